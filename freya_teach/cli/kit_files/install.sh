#!/bin/sh
# Sets up the course in this folder, without the network. Run it with: sh install.sh
set -eu
cd "$(dirname "$0")"

python=""
for name in "${PYTHON:-}" @POSIX_NAMES@ python3 python; do
    [ -n "$name" ] || continue
    version=$("$name" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue
    case " @PYTHONS@ " in
        *" $version "*) python=$name; break ;;
    esac
done
if [ -z "$python" ]; then
    echo "This kit is for Python @PYTHONS_IN_WORDS@, and none was found here." >&2
    echo "If it is installed elsewhere: PYTHON=/path/to/python sh install.sh" >&2
    exit 1
fi

# pip runs out of its own wheel: some systems have Python without it.
"$python" -m venv --clear --without-pip env
env/bin/python wheels/@PIP@/pip install --quiet --disable-pip-version-check \
    --no-index --find-links wheels pip "freya-teach[course]"
env/bin/freya-teach doctor
echo
echo "Ready. Open the course with:  $(pwd)/env/bin/freya-teach lab"
