@echo off
rem Sets up the course in this folder, without the network.
setlocal
cd /d "%~dp0"

set "PY="
for %%v in (@PYTHONS@) do (
    if not defined PY py -%%v -c "" >nul 2>nul && set "PY=py -%%v"
)
if not defined PY (
    python -c "import sys; sys.exit('%%d.%%d' %% sys.version_info[:2] not in '@PYTHONS@'.split())" >nul 2>nul && set "PY=python"
)
if not defined PY (
    echo This kit is for Python @PYTHONS_IN_WORDS@, and none was found here.
    exit /b 1
)

rem pip runs out of its own wheel.
%PY% -m venv --clear --without-pip env || exit /b 1
env\Scripts\python wheels\@PIP@\pip install --quiet --disable-pip-version-check --no-index --find-links wheels pip "freya-teach[course]" || exit /b 1
env\Scripts\freya-teach doctor || exit /b 1
echo.
echo Ready. Open the course with:  "%CD%\env\Scripts\freya-teach" lab
