"""What the files around the package say agrees: versions, Pythons, checkers, jobs of public CI."""

import json
import re
import sys
import tomllib

import pytest
from tests.places import ROOT

import prism

yaml = pytest.importorskip("yaml")
sys.path.insert(0, str(ROOT / "tools"))
from check_package import NEEDED, NEEDED_TO_TEST, sdist_faults, wheel_faults  # noqa: E402

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text("utf-8"))
JOBS = WORKFLOW["jobs"]


def steps(job):
    return "\n".join(step.get("run", "") for step in JOBS[job]["steps"])


# -- one version -----------------------------------------------------------------------------------


def test_the_version_has_one_source():
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert PROJECT["tool"]["hatch"]["version"]["path"] == "src/prism/_version.py"
    assert prism.__version__ in (ROOT / "src" / "prism" / "_version.py").read_text("utf-8")


def test_the_citation_and_the_changelog_know_the_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == prism.__version__
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    headings = re.findall(r"^## \[(.+?)\]", changelog, flags=re.MULTILINE)
    assert headings[0] == "Unreleased"
    assert headings[1] == prism.__version__


def test_the_checklist_names_what_holds_the_version():
    text = (ROOT / "RELEASE.md").read_text("utf-8")
    for name in ("src/prism/_version.py", "CITATION.cff", "CHANGELOG.md", "make test"):
        assert name in text


# -- public CI -------------------------------------------------------------------------------------


def test_public_ci_has_its_jobs():
    assert set(JOBS) == {"style", "tests", "package", "docs"}
    assert all(job["runs-on"] and job["steps"] for job in JOBS.values())
    assert True in WORKFLOW or "on" in WORKFLOW  # YAML 1.1 reads the word `on` as true
    assert "make lint" in steps("style")
    assert "make docs" in steps("docs")
    for command in ("slipcover -m pytest", "tools/coverage_table.py"):
        assert command in steps("tests")
    for command in ("-m build", "tools/check_package.py", "import prism", "prism --version"):
        assert command in steps("package")


def test_public_ci_runs_the_pythons_that_are_promised():
    promised = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["project"]["classifiers"]))
    matrix = JOBS["tests"]["strategy"]["matrix"]
    assert matrix["python"] == promised
    assert PROJECT["project"]["requires-python"] == f">={promised[0]}"
    assert PROJECT["tool"]["ruff"]["target-version"] == f"py{promised[0].replace('.', '')}"


def test_public_ci_runs_lowest_and_newest_dependencies():
    matrix = JOBS["tests"]["strategy"]["matrix"]
    assert matrix["resolution"] == ["highest"]
    assert {"python": "3.11", "resolution": "lowest-direct"} in matrix["include"]
    assert "--resolution ${{ matrix.resolution }}" in steps("tests")


def test_every_dependency_has_a_lower_bound():
    groups = [PROJECT["project"]["dependencies"]]
    groups += PROJECT["project"]["optional-dependencies"].values()
    loose = [
        name for group in groups for name in group if not re.search(r"[>=~]=|^prism-id\[", name)
    ]
    assert loose == []


# -- checkers --------------------------------------------------------------------------------------


def test_pre_commit_uses_the_checkers_of_the_extra():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]
    revisions = {repo["repo"].rsplit("/", 1)[1]: repo["rev"].removeprefix("v") for repo in hooks}
    wanted = PROJECT["project"]["optional-dependencies"]["dev"]
    pinned = dict(one.split("==") for one in wanted if "==" in one)
    assert revisions == {"ruff-pre-commit": pinned["ruff"], "mirrors-mypy": pinned["mypy"]}


# -- what is built ---------------------------------------------------------------------------------


def test_the_wheel_holds_the_tool_alone():
    assert PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == ["src/prism"]
    good = ["prism/__init__.py", "prism/py.typed", "prism_id-1.dist-info/METADATA"]
    assert wheel_faults(good) == []
    assert wheel_faults([*good, "prism_bench/__init__.py"]) == ["the wheel holds prism_bench"]
    assert wheel_faults(good[:1]) == ["the wheel lacks prism/py.typed"]


def test_the_sdist_holds_what_rebuilds_it():
    good = [f"prism_id-1/{name}" for name in NEEDED + NEEDED_TO_TEST]
    assert sdist_faults(good) == []
    assert sdist_faults(good[:-1]) == [f"the sdist lacks {NEEDED_TO_TEST[-1]}"]
    assert all((ROOT / name).exists() for name in NEEDED + NEEDED_TO_TEST)


def test_all_that_the_sdist_includes_exists():
    included = PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert [name for name in included if not (ROOT / name).exists()] == []


def test_speed_is_measured_where_its_settings_say():
    settings = json.loads((ROOT / "asv.conf.json").read_text("utf-8"))
    assert (ROOT / settings["benchmark_dir"] / "__init__.py").exists()
    assert all(settings[name].startswith(".asv/") for name in ("env_dir", "results_dir"))
