#!/bin/sh
# Converts every repository under a folder, with the command: a JSON line each, then a summary.
#
# usage:    sh examples/migrate.sh FROM TO [options of revconvert]
# example:  sh examples/migrate.sh /srv/hg /srv/hg-zstd --to zstd
#
# Repositories that fail are reported and left out; the others go on. Run again, it skips what is there already.
set -u
[ $# -ge 2 ] || { echo "usage: sh examples/migrate.sh FROM TO [options of revconvert]" >&2; exit 2; }
from=$1 to=$2
shift 2
revconvert=${REVCONVERT:-"node $(dirname "$0")/../dist/bin/revconvert.js"}
done=0 failed=0 skipped=0
list=$(mktemp)
trap 'rm -f "$list"' EXIT
find "$from" -type d -name .hg -prune -print | sort > "$list"
while IFS= read -r hg; do
    repository=$(dirname "$hg")
    name=${repository#"$from"}
    if [ -e "$to$name/.hg" ]; then
        skipped=$((skipped + 1))
        continue
    fi
    mkdir -p "$(dirname "$to$name")"
    # The command is two words: the interpreter and the script.
    # shellcheck disable=SC2086
    $revconvert --json "$@" "$repository" "$to$name" </dev/null
    case $? in
        0 | 1) done=$((done + 1)) ;;
        130) exit 130 ;;
        *) failed=$((failed + 1)) ;;
    esac
done < "$list"
echo "$done converted, $failed failed, $skipped there already" >&2
[ "$failed" -eq 0 ]
