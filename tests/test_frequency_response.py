"""FrequencyResponse and Ports: every way to make one, and every refusal."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prism.errors import InputError, ResponseError
from prism.frequency_response import MIN_LINES, FrequencyResponse, Ports

W = np.array([0.5, 1.0, 1.5, 2.0, 2.5, 3.0])


def numbers(shape, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


# -- shapes and order ----------------------------------------------------------------------------


def test_a_scalar_response_is_one_output_and_one_input():
    H = numbers(6)
    response = FrequencyResponse(W, H)
    assert response.shape == (1, 1)
    assert len(response) == 6
    assert response.outputs == response.inputs == ("x1",)
    assert response.quantity == "displacement"
    assert response.variance is None
    assert response.missing == 0
    np.testing.assert_array_equal(response.values[:, 0, 0], H)


def test_a_square_response_names_its_ports_by_number():
    response = FrequencyResponse(W, numbers((6, 3, 3)))
    assert response.shape == (3, 3)
    assert response.outputs == response.inputs == ("x1", "x2", "x3")


def test_outputs_alone_name_the_inputs_of_a_square_response():
    response = FrequencyResponse(W, numbers((6, 2, 2)), outputs=["tip", "root"])
    assert response.inputs == ("tip", "root")


def test_integers_and_lists_are_accepted():
    response = FrequencyResponse([1, 2, 3, 4], [1, 0, -1, 2])
    assert response.omega.dtype == float
    assert response.values.dtype == complex


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.permutations(range(6)), st.sampled_from(["displacement", "velocity", "acceleration"]))
def test_the_order_of_the_lines_does_not_matter(order, quantity):
    H, spread = numbers((6, 2, 2)), np.abs(numbers((6, 2, 2), 1))
    H[3, 0, 1] = np.nan
    order = list(order)
    plain = FrequencyResponse(W, H, quantity, variance=spread)
    mixed = FrequencyResponse(W[order], H[order], quantity, variance=spread[order])
    np.testing.assert_array_equal(mixed.omega, W)
    np.testing.assert_array_equal(mixed.values, plain.values)
    np.testing.assert_array_equal(mixed.variance, plain.variance)
    np.testing.assert_array_equal(mixed.receptance, plain.receptance)


# -- frequencies that are refused ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("omega", "words"),
    [
        ([1.0, -0.5, 2.0, 3.0], "frequency 1 .* is -0.5"),
        ([1.0, 2.0, np.inf, 3.0], "frequency 2 .* is inf"),
        ([1.0, 2.0, 3.0, np.nan], "frequency 3 .* is nan"),
        ([1.0, 2.0, 2.0, 3.0], "frequency 2 is there 2 times"),
        ([1.0, 2.0, 2.0, 2.0], "frequency 2 is there 3 times"),
        ([[1.0, 2.0], [3.0, 4.0]], r"shape \(2, 2\)"),
        ([1j, 2.0, 3.0, 4.0], "complex"),
        (["1", "2", "3", "4"], "give real numbers"),
        ([True, False, True, False], "bool"),
        (3.0, r"shape \(\)"),
    ],
)
def test_frequencies_that_make_no_grid_are_refused_with_the_place(omega, words):
    with pytest.raises(ResponseError, match=words):
        FrequencyResponse(omega, np.ones(4))


@pytest.mark.parametrize(("lines", "words"), [(0, "0 frequencies"), (1, "1 frequency:")])
def test_too_few_frequencies_are_refused(lines, words):
    with pytest.raises(ResponseError, match=words):
        FrequencyResponse(np.arange(1.0, lines + 1), np.ones(lines))


def test_the_fewest_frequencies_are_accepted_and_one_less_is_not():
    FrequencyResponse(W[:MIN_LINES], np.ones(MIN_LINES))
    with pytest.raises(ResponseError, match=f"at least {MIN_LINES}"):
        FrequencyResponse(W[: MIN_LINES - 1], np.ones(MIN_LINES - 1))


def test_a_response_error_is_an_input_error_and_a_value_error():
    with pytest.raises(InputError):
        FrequencyResponse([-1.0], [1.0])
    assert issubclass(ResponseError, ValueError)


# -- values that are refused ---------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(5,), (6, 2), (6, 1, 0), (6, 0, 1), (5, 1, 1), (6, 1, 1, 1)])
def test_values_of_a_wrong_shape_are_refused_and_the_message_names_it(shape):
    with pytest.raises(ResponseError, match=f"shape {str(shape)[:-1]}".replace("(", r"\(")):
        FrequencyResponse(W, np.ones(shape), outputs=["a"], inputs=["a"])


def test_values_that_are_no_numbers_are_refused():
    with pytest.raises(ResponseError, match="give complex numbers"):
        FrequencyResponse(W, ["a"] * 6)


@pytest.mark.parametrize("value", [np.inf, -np.inf, 1j * np.inf, complex(np.nan, np.inf)])
def test_an_infinite_value_is_refused_with_its_place(value):
    H = numbers((6, 2, 2))
    H[4, 1, 0] = value
    with pytest.raises(ResponseError, match=r"line 4 .* output 1, input 0"):
        FrequencyResponse(W, H)


def test_an_unknown_quantity_is_refused():
    with pytest.raises(ResponseError, match="unknown quantity 'force'"):
        FrequencyResponse(W, numbers(6), "force")


def test_a_response_of_zeros_is_refused():
    with pytest.raises(ResponseError, match="zero everywhere"):
        FrequencyResponse(W, np.zeros(6))


def test_a_response_without_values_is_refused():
    with pytest.raises(ResponseError, match="no value is left"):
        FrequencyResponse(W, np.full(6, np.nan))


def test_a_response_with_too_few_lines_left_is_refused():
    H = numbers(6)
    H[:3] = np.nan
    with pytest.raises(ResponseError, match="only 3 of 6 frequencies have a value"):
        FrequencyResponse(W, H)
    assert FrequencyResponse(W, np.r_[np.nan, np.nan, numbers(4)]).missing == 2


# -- missing values ------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [np.nan, complex(0, np.nan), complex(np.nan, 1)])
def test_nan_in_either_part_is_a_missing_value(value):
    H = numbers((6, 2, 2))
    H[2, 0, 1] = value
    response = FrequencyResponse(W, H)
    assert response.missing == 1
    assert np.isnan(response.receptance[2, 0, 1])
    assert "1 missing" in repr(response)


def test_a_line_without_values_stays_and_counts_as_missing():
    H = numbers((6, 2, 2))
    H[3] = np.nan
    response = FrequencyResponse(W, H)
    assert len(response) == 6
    assert response.missing == 4
    assert not response.ports.counts[3].any()


# -- quantities ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("quantity", "order"), [("displacement", 0), ("velocity", 1), ("acceleration", 2)]
)
def test_receptance_divides_by_i_omega_once_per_derivative(quantity, order):
    H, spread = numbers((6, 2, 2)), np.abs(numbers((6, 2, 2), 1))
    response = FrequencyResponse(W, H * (1j * W[:, None, None]) ** order, quantity, variance=spread)
    np.testing.assert_allclose(response.receptance, H, rtol=1e-14)
    np.testing.assert_allclose(
        response.receptance_variance, spread / W[:, None, None] ** (2 * order), rtol=1e-14
    )


def test_receptance_variance_is_none_where_no_variance_is_given():
    assert FrequencyResponse(W, numbers(6)).receptance_variance is None


@pytest.mark.parametrize("quantity", ["velocity", "acceleration"])
def test_the_line_at_zero_is_dropped_from_mobility_and_accelerance(quantity):
    response = FrequencyResponse(np.r_[0.0, W], numbers(7), quantity, variance=np.ones(7))
    assert response.missing == 1
    assert np.isnan(response.receptance[0, 0, 0])
    assert np.isfinite(response.receptance[1:]).all()
    assert response.receptance_variance[0, 0, 0] == np.inf


def test_the_line_at_zero_of_a_receptance_is_a_static_test():
    response = FrequencyResponse(np.r_[0.0, W], np.r_[2.0, numbers(6)])
    assert response.missing == 0
    assert response.receptance[0, 0, 0] == 2.0


def test_a_mobility_known_at_zero_and_three_lines_only_is_refused():
    with pytest.raises(ResponseError, match="only 3 of 4"):
        FrequencyResponse([0.0, 1.0, 2.0, 3.0], np.ones(4), "velocity")


# -- variance ------------------------------------------------------------------------------------


def test_a_flat_variance_is_taken_for_a_scalar_response():
    response = FrequencyResponse(W, numbers(6), variance=np.arange(1.0, 7.0))
    np.testing.assert_array_equal(response.variance[:, 0, 0], np.arange(1.0, 7.0))


def test_an_infinite_variance_marks_the_value_as_missing():
    spread = np.ones((6, 2, 2))
    spread[1, 0, 1] = np.inf
    response = FrequencyResponse(W, numbers((6, 2, 2)), variance=spread)
    assert response.missing == 1
    assert np.isnan(response.values[1, 0, 1])
    assert response.variance[1, 0, 1] == np.inf


def test_the_variance_of_a_missing_value_may_be_nan_and_becomes_infinite():
    H, spread = numbers(6), np.ones(6)
    H[2] = spread[2] = np.nan
    assert FrequencyResponse(W, H, variance=spread).variance[2, 0, 0] == np.inf


@pytest.mark.parametrize("bad", [-1.0, np.nan, -np.inf])
def test_a_variance_that_is_negative_or_nan_beside_a_value_is_refused(bad):
    spread = np.ones(6)
    spread[3] = bad
    with pytest.raises(ResponseError, match="one non-negative number for each value"):
        FrequencyResponse(W, numbers(6), variance=spread)


@pytest.mark.parametrize("shape", [(5,), (6, 2), (6, 2, 1), ()])
def test_a_variance_of_a_wrong_shape_is_refused(shape):
    with pytest.raises(ResponseError, match="a variance of shape"):
        FrequencyResponse(W, numbers((6, 2, 2)), variance=np.ones(shape))


def test_a_variance_with_its_axes_in_another_order_is_refused():
    """As many numbers, laid out otherwise: they would be given to the wrong values."""
    with pytest.raises(ResponseError, match="a variance of shape"):
        FrequencyResponse(W, numbers((6, 2, 2)), variance=np.ones((2, 2, 6)))


def test_a_variance_that_is_infinite_everywhere_leaves_nothing():
    with pytest.raises(ResponseError, match="no value is left"):
        FrequencyResponse(W, numbers(6), variance=np.full(6, np.inf))


# -- names ---------------------------------------------------------------------------------------


def test_a_response_that_is_not_square_asks_for_names():
    with pytest.raises(ResponseError, match="names of outputs and inputs"):
        FrequencyResponse(W, numbers((6, 3, 1)))
    with pytest.raises(ResponseError, match="names of outputs and inputs"):
        FrequencyResponse(W, numbers((6, 3, 1)), outputs=["a", "b", "c"])


@pytest.mark.parametrize(
    ("outputs", "inputs", "kind"),
    [(["a"], ["a", "b"], "2 outputs"), (["a", "a"], None, "2 outputs"), (None, ["a"], "2 inputs")],
)
def test_names_must_be_one_for_each_channel(outputs, inputs, kind):
    with pytest.raises(ResponseError, match=f"for {kind}: give each a name of its own"):
        FrequencyResponse(W, numbers((6, 2, 2)), outputs=outputs, inputs=inputs)


# -- ports ---------------------------------------------------------------------------------------


def dense_ports(response):
    """Ports entry by entry, with loops: names, means, counts, half differences, variances."""
    names = [*response.outputs, *(b for b in response.inputs if b not in response.outputs)]
    n, F = len(names), len(response)
    given = {}
    for k in range(F):
        for i, a in enumerate(response.outputs):
            for j, b in enumerate(response.inputs):
                if not np.isnan(response.values[k, i, j]):
                    spread = response.receptance_variance
                    given[k, a, b] = (
                        response.receptance[k, i, j],
                        None if spread is None else spread[k, i, j],
                    )
    mean, half = np.full((2, F, n, n), np.nan, complex)
    counts, spread = np.zeros((F, n, n)), np.full((F, n, n), np.inf)
    for k in range(F):
        for p, a in enumerate(names):
            for q, b in enumerate(names):
                keys = {(k, a, b), (k, b, a)}
                seen = [given[key] for key in keys if key in given]
                counts[k, p, q] = len(seen)
                if seen:
                    mean[k, p, q] = np.mean([value for value, _ in seen])
                    if seen[0][1] is not None:
                        spread[k, p, q] = np.mean([v for _, v in seen])
                if len(seen) == 2:
                    half[k, p, q] = 0.5 * (given[k, a, b][0] - given[k, b, a][0])
    return tuple(names), mean, counts, half, spread


PLACES = st.sampled_from(
    [
        (["a", "b"], ["a", "b"]),
        (["a", "b", "c"], ["b"]),
        (["a"], ["c", "a", "b"]),
        (["a", "b"], ["b", "c"]),
        (["a", "b"], ["c", "d", "e"]),
        (["a", "b", "c"], ["c", "a", "b"]),
    ]
)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(PLACES, st.integers(0, 2**20), st.booleans(), st.sampled_from([0.0, 0.3]))
def test_ports_are_the_symmetric_mean_of_what_was_measured(places, seed, stated, gone):
    outputs, inputs = places
    rng = np.random.default_rng(seed)
    shape = (6, len(outputs), len(inputs))
    H = numbers(shape, seed)
    H[rng.uniform(size=shape) < gone] = np.nan
    H[:4, 0, 0] = 1.0 + 1j
    spread = rng.uniform(0.5, 2.0, shape) if stated else None
    response = FrequencyResponse(W, H, "velocity", outputs, inputs, spread)
    names, mean, counts, half, variance = dense_ports(response)
    ports = response.ports
    assert ports.names == names
    np.testing.assert_allclose(ports.values, mean, rtol=1e-13)
    np.testing.assert_array_equal(ports.counts, counts)
    np.testing.assert_allclose(ports.half_difference, half, rtol=1e-9, atol=1e-15)
    if stated:
        np.testing.assert_allclose(ports.variance, variance, rtol=1e-13)
    else:
        assert ports.variance is None


def test_one_force_and_three_motions_have_one_driving_point():
    response = FrequencyResponse(W, numbers((6, 3, 1)), outputs=["a", "b", "c"], inputs=["b"])
    ports = response.ports
    assert isinstance(ports, Ports)
    assert ports.names == ("a", "b", "c")
    assert ports.driving_points == (1,)
    np.testing.assert_array_equal(ports.counts[0], [[0, 1, 0], [1, 1, 1], [0, 1, 0]])
    np.testing.assert_array_equal(ports.values[:, 0, 1], response.values[:, 0, 0])
    np.testing.assert_array_equal(ports.values[:, 1, 0], response.values[:, 0, 0])
    assert np.isnan(ports.half_difference).all()


def test_forces_elsewhere_have_no_driving_point():
    response = FrequencyResponse(W, numbers((6, 2, 1)), outputs=["a", "b"], inputs=["c"])
    assert response.ports.driving_points == ()
    assert response.ports.names == ("a", "b", "c")


def test_a_driving_point_that_is_missing_on_every_line_is_none():
    H = numbers((6, 2, 2))
    H[:, 1, 1] = np.nan
    assert FrequencyResponse(W, H).ports.driving_points == (0,)


def test_a_pair_measured_both_ways_counts_twice_and_a_driving_point_once():
    ports = FrequencyResponse(W, numbers((6, 2, 2))).ports
    np.testing.assert_array_equal(ports.counts[0], [[1, 2], [2, 1]])


# -- band, immutability, words -------------------------------------------------------------------


def test_a_band_includes_its_edges_and_keeps_everything_else():
    spread = np.abs(numbers((6, 2, 1), 1))
    full = FrequencyResponse(W, numbers((6, 2, 1)), "velocity", ["a", "b"], ["a"], spread)
    part = full.band(1.0, 2.5)
    np.testing.assert_array_equal(part.omega, W[1:5])
    np.testing.assert_array_equal(part.values, full.values[1:5])
    np.testing.assert_array_equal(part.variance, full.variance[1:5])
    assert (part.quantity, part.outputs, part.inputs) == ("velocity", ("a", "b"), ("a",))


def test_a_band_of_a_response_without_variance_has_none():
    assert FrequencyResponse(W, numbers(6)).band(0, 9).variance is None


@pytest.mark.parametrize("edges", [(1.4, 1.6), (7.0, 9.0), (3.0, 0.5)])
def test_a_band_with_too_few_lines_is_refused(edges):
    with pytest.raises(ResponseError):
        FrequencyResponse(W, numbers(6)).band(*edges)


def test_a_response_cannot_be_changed():
    omega, H, spread = W.copy(), numbers(6), np.ones(6)
    response = FrequencyResponse(omega, H, variance=spread)
    for array in (
        response.omega,
        response.values,
        response.variance,
        response.receptance,
        response.receptance_variance,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(dataclasses.FrozenInstanceError):
        response.quantity = "velocity"


def test_a_response_does_not_look_at_the_callers_arrays_again():
    omega, H, spread = W.copy(), numbers(6), np.ones(6)
    response = FrequencyResponse(omega, H, variance=spread)
    before = response.omega[0], response.values[0, 0, 0], response.variance[0, 0, 0]
    omega[0], H[0], spread[0] = 0.1, 99.0, 99.0
    assert (response.omega[0], response.values[0, 0, 0], response.variance[0, 0, 0]) == before
    assert omega.flags.writeable
    assert H.flags.writeable


def test_repr_says_the_band_the_places_and_the_quantity():
    response = FrequencyResponse(
        W, numbers((6, 2, 1)), "acceleration", outputs=["tip", "root"], inputs=["tip"]
    )
    assert repr(response) == (
        "FrequencyResponse(6 frequencies 0.5 to 3 rad per time unit, 2 x 1, acceleration of "
        "tip, root / tip)"
    )
