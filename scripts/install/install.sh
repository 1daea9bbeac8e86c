#!/usr/bin/env bash
# install.sh install|uninstall: installs drywarp under $DESTDIR$PREFIX, or removes it; make install builds its inputs first.
# Installed files refer to each other by relative paths, so that the folder may move.
set -eu
[ "${1-}" != --help ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }

fail() {
    echo "make $action: $1" >&2
    exit 2
}

# Whether all files to be overwritten are regular files, and the program's folder is drywarp's.
look() {
    local file
    for file in "${files[@]}"; do
        [ ! -e "$prefix/$file" ] || [ -f "$prefix/$file" ] || fail "$prefix/$file is there and no regular file: nothing was done"
    done
    [ ! -e "$app" ] || [ -f "$app/build/sim/options" ] || fail "$app is there and not drywarp's: nothing was done"
}

# The program's folder, as in the clone: the simulator under the names of NVIDIA's libraries, the Python package, the player,
# and the page that explains findings.
fill() {
    local built=build/sim name
    mkdir -p "$1/$built/lib" "$1/book/player" "$1/docs" "$1/simulator/libraries"
    install -m 644 $built/options "$1/$built/options"
    install -m 755 $built/replay $built/compile "$1/$built"
    install -m 644 $built/libsimulator.a "$1/$built/lib/libcudart_static.a"
    for name in cudart cuda; do ln -s libcudart_static.a "$1/$built/lib/lib$name.a"; done
    install -m 644 $built/libcudadevrt.a $built/libcurand.a "$1/$built/lib"
    install -m 644 book/player/*.js book/player/player.css "$1/book/player"
    install -m 644 docs/findings.md "$1/docs/findings.md"
    cp -R simulator/libraries/include "$1/simulator/libraries/include"
    for name in drywarp/*.py drywarp/*/*.py; do
        install -D -m 644 "$name" "$1/$name"
    done
    [ -z "${TOOLKIT-}" ] || cp -RL "$(echo "$TOOLKIT"/venv/lib/python3*/site-packages/nvidia/cu13)" "$1/toolkit" # what make toolkit fetched
}

# Writes a new file, or replaces a regular one, atomically.
place() {
    mkdir -p "$(dirname "$prefix/$2")"
    cat > "$prefix/$2.new"
    chmod "$1" "$prefix/$2.new"
    mv -T "$prefix/$2.new" "$prefix/$2"
}

install_all() {
    look
    trap 'rm -rf "$app.new"' EXIT
    rm -rf "$app.new"
    fill "$app.new"
    rm -rf "$app"
    mv -T "$app.new" "$app"
    place 755 bin/drywarp < scripts/install/drywarp
    place 755 bin/drywarp-nvcc < scripts/install/drywarp-nvcc
    place 644 lib/cmake/drywarp/toolchain.cmake < scripts/install/toolchain.cmake
    sed "s|@OPTIONS@|$(cat build/sim/options)|; s|@VERSION@|$version|" scripts/install/drywarp.pc | place 644 lib/pkgconfig/drywarp.pc
    sed "s|@VERSION@|$version|" scripts/install/drywarp.1 | place 644 share/man/man1/drywarp.1
    echo "installed: $prefix/bin/drywarp ($version)"
}

uninstall_all() {
    look
    [ -e "$app" ] || fail "there is no drywarp in $prefix"
    rm -rf "$app"
    (cd "$prefix" && rm -f "${files[@]}" && rmdir -p --ignore-fail-on-non-empty lib/cmake/drywarp lib/pkgconfig share/man/man1 bin)
    echo "uninstalled: $prefix/bin/drywarp"
}

action=${1-}
[ -n "${PREFIX-}" ] || fail "PREFIX is empty; name a folder, as in: PREFIX=~/.local"
prefix=${DESTDIR-}${PREFIX/#\~\//$HOME/}
app=$prefix/lib/drywarp
files=(bin/drywarp bin/drywarp-nvcc lib/cmake/drywarp/toolchain.cmake lib/pkgconfig/drywarp.pc share/man/man1/drywarp.1)
version=$(sed -n 's/^VERSION = "\(.*\)"/\1/p' drywarp/__init__.py)
case $action in
install) install_all ;;
uninstall) uninstall_all ;;
*) echo 'usage: install.sh install|uninstall' >&2; exit 2 ;;
esac
