#!/bin/sh
# Brings the bundles of Mercurial's own test suite (GPL: used, never kept) from Debian's source package into a folder:
#     mercurial_bundles.sh FOLDER
# Prints the folder that holds them. Nothing of the system's apt configuration is changed.
set -eu
folder=$1
mkdir -p "$folder/lists/partial"
folder=$(cd "$folder" && pwd)
if [ ! -d "$folder/tests" ]; then
    . /etc/os-release
    echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $VERSION_CODENAME main" >"$folder/sources.list"
    apt() {
        apt-get -q -o Dir::Etc::sourcelist="$folder/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$folder/lists" -o APT::Sandbox::User=root "$@" >&2
    }
    apt update
    (cd "$folder" && apt source --download-only mercurial)
    tar --extract --gzip --file "$folder"/mercurial_*.orig.tar.gz --directory "$folder" --strip-components=1 --wildcards '*/tests/*.hg'
fi
echo "$folder/tests"
