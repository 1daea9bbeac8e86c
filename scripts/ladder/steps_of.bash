# For scripts that take a step of the ladder, of the ladder that LADDER names or of a lab; they run in the repository's root.

ladder() { # ladder COMMAND LAB: sets place, where the steps lie, named, what make calls that, and last, the number of the last one; refuses what is no lab
    place=${2:+labs/$2/} named=${2:+LAB=$2 }
    if [ -z "$2" ] && [ "${LADDER:-reduce}" != reduce ]; then
        place=$LADDER/ named="LADDER=$LADDER "
    fi
    if [ -n "$2" ] && { [[ $2 == */* ]] || ! [ -f "labs/$2/README.md" ]; }; then
        echo "$1: LAB='$2' is no lab; there are $(python3 scripts/ladder/labs.py names), as in: make $1 LAB=rowscale STEP=01" >&2
        exit 2
    fi
    last=$(printf '%s\n' "$place"step[0-9][0-9]_* | tail -n 1)
    last=${last#"$place"step}
    last=${last:0:2}
}

two_digits() { # two_digits COMMAND STEP: refuses STEP=3
    [[ $2 =~ ^[0-9]$ ]] || return 0
    echo "$1: steps have two digits, as in: make $1 ${named}STEP=0$2" >&2
    exit 2
}

program() { # program FOLDER: the program of a step
    local file
    for file in "$1"/*.cu "$1"/*.c; do
        [ ! -f "$file" ] || { echo "$file" && return; }
    done
}
