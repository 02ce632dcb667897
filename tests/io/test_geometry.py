"""Geometries in text tables and universal files."""

from pathlib import Path

import numpy as np
import pytest

import prism
from prism.errors import PrismWarning, ReadError

TABLE = """\
# a frame of two storeys
node, 1, 0, 0, 0
node, 2, 0, 0, 3
node, top left, 4, 0, 6      # a name

line, 1, 2, top left
channel, acc 1, 2, +x
channel, acc 2, top left, -Y
channel, gyro, 2, rz
channel, oblique, 2, 3, 0, -4
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def table(text=TABLE, name="a.csv"):
    Path(name).write_text(text, encoding="utf-8")
    return name


# -- tables ----------------------------------------------------------------------------------------


def test_a_table(folder):
    frame = prism.read_geometry(table())
    assert frame.nodes == ("1", "2", "top left")
    np.testing.assert_array_equal(frame.positions, [[0, 0, 0], [0, 0, 3], [4, 0, 6]])
    assert frame.lines == (("1", "2"), ("2", "top left"))
    assert frame.place("acc 1").direction == (1, 0, 0)
    assert (frame.place("acc 2").node, frame.place("acc 2").direction) == ("top left", (0, -1, 0))
    assert frame.place("gyro").turns
    assert frame.place("oblique").direction == pytest.approx((0.6, 0, -0.8))
    assert frame.place("2:-z").direction == (0, 0, -1)  # no row, but the name says it
    assert frame.place("5z") is None
    assert repr(frame) == "Geometry(3 nodes, 2 lines)"


@pytest.mark.parametrize(("mark", "suffix"), [(";", ".txt"), ("\t", ".tsv"), (",", ".dat")])
def test_other_marks_between_cells(folder, mark, suffix):
    rows = ["node,1,0.5", "node,'a b',1,2", "LINE,1,a b", "channel,q,1,z,,"]
    text = "\n".join(row.replace(",", mark).replace("'", '"') for row in rows)
    frame = prism.read_geometry(table(text, "a" + suffix))
    assert frame.nodes == ("1", "a b")
    np.testing.assert_array_equal(frame.positions, [[0.5, 0, 0], [1, 2, 0]])


def test_several_files_make_one(folder):
    table("node,1,0,0\nnode,2,1,0", "nodes.csv")
    table("channel,q,2,z\nline,1,2", "rest.csv")
    frame = prism.read_geometry(["nodes.csv", "rest.csv"])
    assert frame.place("q").node == "2"
    assert frame == prism.Geometry(["1", "2"], [[0, 0, 0], [1, 0, 0]], [("2", "1")], {"q": "2:z"})


BAD = {
    "kind": ("vertex,1,0,0", r"^a\.csv, line 1: a row of 'vertex': it begins with node, line, ch"),
    "no place": ("node,1", r"line 1: 'node, 1' lacks a cell, .*write node, NAME, X, Y, Z"),
    "hole": ("node,1,0,,1", "or has an empty one"),
    "four": ("node,1,0,0,0,0", "line 1: the node '1' has 4 coordinates"),
    "word": ("node,1,0,zero,0", "line 1: 'zero' is not a number"),
    "infinite": ("node,1,inf", "'inf' is not a number"),
    "direction": ("node,1,0\nchannel,q,1,up", "line 2: 'up' is no direction: write .x"),
    "two numbers": ("node,1,0\nchannel,q,1,1,0", "line 2: '1, 0' is no direction"),
    "zero": ("node,1,0\nchannel,q,1,0,0,0", "line 2: the channel 'q' has the direction 0"),
    "twice": ("node,1,0\nchannel,q,1,x\nchannel,q,1,y", "line 3: the channel 'q' has a place al"),
    "nodes": ("node,1,0\nnode,1,1", r"^a\.csv: the node '1' is given twice"),
    "line": ("node,1,0\nline,1,2", "the line '1' to '2' goes to '2', which is no node"),
    "loop": ("node,1,0\nline,1,1", "goes from it to itself"),
    "lost": ("node,1,0\nchannel,q,3,x", "the channel 'q' is at '3', which is no node"),
    "nothing": ("# none\n", r"^a\.csv: there are no nodes"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_tables(folder, case):
    text, words = BAD[case]
    with pytest.raises(ReadError, match=words):
        prism.read_geometry(table(text))


def test_files_that_are_none(folder):
    with pytest.raises(ReadError, match=r"^none\.csv: cannot be read \(no such file"):
        prism.read_geometry("none.csv")
    with pytest.raises(ReadError, match=r"^a\.stl: is no geometry by its suffix"):
        prism.read_geometry("a.stl")
    with pytest.raises(ReadError, match="no file is given"):
        prism.read_geometry([])


# -- universal files -------------------------------------------------------------------------------


def universal(*sets, name="a.unv"):
    pyuff = pytest.importorskip("pyuff", reason='UFF files need pyuff: pip install "prism-id[io]"')
    Path(name).unlink(missing_ok=True)
    pyuff.UFF(name).write_sets([dict(one) for one in sets], "add")
    return name


def nodes(kind, numbers, points, own=0, local=0):
    x, y, z = np.array(points, float).T
    count = np.ones(len(numbers), int)
    systems = {"def_cs": own * count, "disp_cs": local * count, "color": count}
    return {"type": kind, "node_nums": np.array(numbers), "x": x, "y": y, "z": z, **systems}


def trace(*numbers):
    return {"type": 82, "trace_num": 1, "nodes": np.array(numbers)}


SQUARE = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.5]]


@pytest.mark.parametrize("kind", [15, 2411])
def test_nodes_and_traces(folder, kind):
    frame = prism.read_geometry(
        universal(nodes(kind, [3, 1, 7, 12], SQUARE), trace(3, 1, 7, 0, 12, 3))
    )
    assert frame.nodes == ("3", "1", "7", "12")
    np.testing.assert_allclose(frame.positions, SQUARE)
    assert frame.lines == (("1", "3"), ("1", "7"), ("12", "3"))
    assert frame.axes is None
    assert frame.place("12:-Y").direction == (0, -1, 0)


def test_the_more_exact_nodes_count(folder):
    exact = [[1 / 3, 0, 0], [1, 0, 0]]
    frame = prism.read_geometry(
        universal(nodes(2411, [1, 2], exact), nodes(15, [1, 2], exact), trace(1, 2))
    )
    assert frame.positions[0, 0] == pytest.approx(1 / 3, abs=1e-15)


def element(kind, *numbers):
    return {
        "element_nums": 1,
        "fe_descriptor": kind,
        "phys_table": 1,
        "mat_table": 1,
        "color": 1,
        "num_nodes": len(numbers),
        "nodes_nums": list(numbers),
        "beam_orientation": 0,
        "beam_foreend_cross": 1,
        "beam_aftend_cross": 1,
    }


def test_edges_of_elements(folder):
    cube = [[x, y, z] for z in (0, 1) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))]
    brick = {115: [element(115, *range(1, 9))]}
    frame = prism.read_geometry(universal(nodes(2411, range(1, 9), cube), {"type": 2412, **brick}))
    ends = [np.subtract(*(frame.positions[frame.nodes.index(n)] for n in line))
            for line in frame.lines]  # fmt: skip
    assert len(frame.lines) == 12
    np.testing.assert_allclose(np.linalg.norm(ends, axis=1), 1)  # no diagonals
    plane = {11: [element(11, 1, 2)], 44: [element(44, 1, 2, 3, 4)], 41: [element(41, 1, 2, 3)]}
    frame = prism.read_geometry(universal(nodes(2411, range(1, 9), cube), {"type": 2412, **plane}))
    assert set(frame.lines) == {("1", "2"), ("2", "3"), ("3", "4"), ("1", "4"), ("1", "3")}


def test_elements_that_are_not_drawn_are_told(folder):
    mesh = {"type": 2412, 161: [element(161, 1)], 11: [element(11, 1, 2)]}
    with pytest.warns(PrismWarning, match=r"1 elements of the kinds 161 are not drawn"):
        frame = prism.read_geometry(universal(nodes(2411, [1, 2], SQUARE[:2]), mesh))
    assert len(frame.lines) == 1


def system(number, kind=0, origin=(0, 0, 0), axes=((0, 1, 0), (-1, 0, 0), (0, 0, 1))):
    """A set 2420, by default turned about z by a right angle."""
    return {
        "type": 2420,
        "CS_sys_labels": [number],
        "CS_types": [kind],
        "CS_colors": [1],
        "CS_names": ["a system"],
        "CS_matrices": [np.array([*axes, origin], float)],
    }


def test_local_directions(folder):
    frame = prism.read_geometry(universal(system(5), nodes(2411, [1, 2], SQUARE[:2], local=5)))
    assert frame.place("1x").direction == pytest.approx((0, 1, 0))
    assert frame.place("1:-y").direction == pytest.approx((1, 0, 0))
    np.testing.assert_allclose(frame.positions, SQUARE[:2])  # of 2411 always those of the whole


def test_points_in_a_system_of_their_own(folder):
    frame = prism.read_geometry(
        universal(system(5, origin=(10, 0, 0)), nodes(15, [1], [[1, 2, 3]], own=5, local=0))
    )
    np.testing.assert_allclose(frame.positions, [[8, 1, 3]])


def test_cylindrical_systems(folder):
    """Points by radius, angle in degrees and height; directions radial, tangential and axial."""
    ring = nodes(15, [1, 2], [[2, 0, 1], [2, 90, 1]], own=4, local=4)
    frame = prism.read_geometry(universal(system(4, kind=1, axes=np.eye(3)), ring))
    np.testing.assert_allclose(frame.positions, [[2, 0, 1], [0, 2, 1]], atol=1e-5)
    assert frame.place("1x").direction == pytest.approx((1, 0, 0), abs=1e-5)
    assert frame.place("2x").direction == pytest.approx((0, 1, 0), abs=1e-5)
    assert frame.place("2y").direction == pytest.approx((-1, 0, 0), abs=1e-5)


def test_systems_by_three_points(folder):
    one = {
        "type": 18,
        "cs_num": [3],
        "ref_cs_num": [0],
        "ref_o": [[1, 0, 0]],
        "x_point": [[1, 2, 0]],  # x is y of the whole
        "xz_point": [[1, 2, 5]],  # z stays z
    }
    frame = prism.read_geometry(universal(one, nodes(15, [1], [[1, 2, 3]], own=3, local=3)))
    np.testing.assert_allclose(frame.positions, [[1 - 2, 1, 3]])
    directions = [frame.place(f"1{axis}").direction for axis in "xyz"]
    np.testing.assert_allclose(directions, [[0, 1, 0], [-1, 0, 0], [0, 0, 1]], atol=1e-12)


def test_systems_that_nobody_defines(folder):
    """Many programs number the system of the whole; a file that defines others must define all."""
    plain = nodes(2411, [1], SQUARE[:1], own=1, local=1)
    assert prism.read_geometry(universal(plain)).axes is None
    with pytest.raises(ReadError, match=r"^a\.unv: the coordinate system 1 is not defined"):
        prism.read_geometry(universal(system(5), plain))
    with pytest.raises(ReadError, match=r"system 5 is spherical \(type 2\)"):
        prism.read_geometry(universal(system(5, kind=2), plain))
    with pytest.raises(ReadError, match="axes of the coordinate system 5 are not unit vectors"):
        prism.read_geometry(universal(system(5, axes=2 * np.eye(3)), plain))


def test_files_without_a_geometry(folder):
    with pytest.raises(ReadError, match=r"^a\.unv: holds no nodes \(sets 15 or 2411\)"):
        prism.read_geometry(universal({"type": 164, "units_code": 1, "length": 1.0, "force": 1.0,
                                       "temp": 1.0, "temp_offset": 0.0}))  # fmt: skip
    with pytest.raises(ReadError, match=r"^a\.unv: the line '1' to '9' goes to '9'"):
        prism.read_geometry(universal(nodes(2411, [1], SQUARE[:1]), trace(1, 9)))
    Path("b.unv").write_text("    -1\n  2411\n         1 damaged\n    -1\n")
    with pytest.raises(ReadError, match=r"^b\.unv, set 1: cannot be read"):
        prism.read_geometry("b.unv")


def test_tables_and_universal_files_together(folder):
    """A local direction is that of the node, whoever names the channel."""
    universal(system(5), nodes(2411, [1], SQUARE[:1], local=5))
    table("channel, tip, 1, x")
    frame = prism.read_geometry(["a.unv", "a.csv"])
    assert frame.place("tip").direction == pytest.approx((0, 1, 0))
