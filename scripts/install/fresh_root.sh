#!/usr/bin/env bash
# fresh_root.sh SUITE FOLDER [MIRROR]: from a clean Debian or Ubuntu to findings, by the commands of docs/drywarp.md, with the seconds of each step.
# Makes the system SUITE (bookworm, noble, ...) in FOLDER by debootstrap, if it is not there, and works in it by chroot: only root can.
# The clone is this one. PUBLIC=FOLDER: a clone of the public program, where GitHub is out of reach.
set -eu
[ "${1-}" != --help ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
if [ $# -lt 2 ] || [ $# -gt 3 ]; then
    echo 'usage: fresh_root.sh SUITE FOLDER [MIRROR], as in: fresh_root.sh bookworm /tmp/clean' >&2
    exit 2
fi
suite=$1 root=$(realpath -m -- "$2") mirror=${3-http://deb.debian.org/debian}
if [ -e "$root/usr/bin/apt-get" ] && [ ! -e "$root.log" ]; then # of debootstrap, below
    echo "fresh_root.sh: $root holds a system that this script has not made: nothing was done" >&2
    exit 2
fi
components=main
[[ $mirror != *ubuntu* ]] || components=main,universe # python3-venv is in the second
cd "$(dirname "$0")/../.."

# Runs a command, and says how long it took.
step() {
    local TIMEFORMAT="$1: %R s (%U s of processors, and %S s in the system)"
    time "${@:2}"
}

# A command in the fresh system, with nothing of this one's environment, and with /proc.
inside() {
    unshare --mount bash -c 'mount -t proc proc "$0/proc" && exec chroot "$0" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin \
        LC_ALL=C DEBIAN_FRONTEND=noninteractive PIP_CERT=/root/certificates.crt bash -c "$1"' "$root" "$1" > "$root/root/log" 2>&1 ||
        { status=$?; tail -n 20 "$root/root/log" >&2; return $status; }
}

# Checks a program, and shows the first finding, which begins so.
check() {
    inside "/root/drywarp/bin/drywarp check $2" 2> /dev/null || [ $? = 88 ]
    grep -m 1 "^error: $1" "$root/root/log"
}

[ -e "$root/usr/bin/apt-get" ] || step "debootstrap $suite" debootstrap --variant=minbase --components="$components" "$suite" "$root" "$mirror" > "$root.log"
cp /etc/resolv.conf "$root/etc/resolv.conf"
cp /etc/ssl/certs/ca-certificates.crt "$root/root/certificates.crt" # a network may have one of its own
rm -rf "$root/root/clone" "$root/root/drywarp" "$root/root/.cache" "$root/root/CUDA_Freshman"
mkdir "$root/root/clone"
git ls-files -co --exclude-standard -z | tar c --null -T - | tar x -C "$root/root/clone"
sed -n 's/^PRETTY_NAME=//p' "$root/etc/os-release"
SECONDS=0
step 'apt-get install' inside 'apt-get update && apt-get install -y g++ git make python3-venv'
step 'pip install' inside 'python3 -m venv /root/drywarp && /root/drywarp/bin/pip install "/root/clone[nvcc]"'
step 'drywarp check' check 'race in shared memory' /root/clone/tests/mistakes/01_no_barrier_after_load.cu
echo "from a clean system to the first finding: $SECONDS s"
step 'git clone' git clone --quiet --depth 1 "${PUBLIC-https://github.com/Tony-Tan/CUDA_Freshman}" "$root/root/CUDA_Freshman"
step 'drywarp check, of a public program' check 'wrong free' '-I /root/CUDA_Freshman/include /root/CUDA_Freshman/37_asyncAPI/asyncAPI.cu'
echo "from a clean system to the findings in a public program: $SECONDS s ($(nproc) cores, load $(cut -d' ' -f1 /proc/loadavg))"
