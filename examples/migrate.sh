#!/bin/sh
# Converts every repository under a folder, with the command: a JSON line each, then a summary.
#
# usage:    sh examples/migrate.sh FROM TO [options of revconvert]
# example:  sh examples/migrate.sh /srv/hg /srv/hg-zstd --to zstd
#
# Repositories that fail are reported and left out; the others go on. Run again, it skips what is there already.
# Ends with status 1 where one failed, or was converted with damage to report.
set -u
[ $# -ge 2 ] || { echo "usage: sh examples/migrate.sh FROM TO [options of revconvert]" >&2; exit 2; }
[ -d "$1" ] || { echo "$1: no such folder" >&2; exit 2; }
from=${1%/} to=${2%/}
shift 2
revconvert=${REVCONVERT:-"node $(dirname "$0")/../dist/bin/revconvert.js"}
done=0 damaged=0 failed=0 skipped=0
list=$(mktemp)
trap 'rm -f "$list"' EXIT
# Without the last part before it is sorted, so that a repository comes before those inside of it.
find "$from" -type d -name .hg -prune -print | sed 's,/\.hg$,,' | LC_ALL=C sort > "$list"
while IFS= read -r repository; do
    target=$to${repository#"$from"}
    if [ -e "$target/.hg" ]; then
        skipped=$((skipped + 1))
        continue
    fi
    mkdir -p "$(dirname "$target")"
    # The command is two words: the interpreter and the script.
    # shellcheck disable=SC2086
    $revconvert --json "$@" "$repository" "$target" </dev/null
    case $? in
        0) done=$((done + 1)) ;;
        1) damaged=$((damaged + 1)) ;;
        130) exit 130 ;;
        *) failed=$((failed + 1)) ;;
    esac
done < "$list"
echo "$done converted, $damaged with damage to report, $failed failed, $skipped there already" >&2
[ "$failed" -eq 0 ] && [ "$damaged" -eq 0 ]
