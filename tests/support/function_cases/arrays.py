"""Cases of the functions of arrays, maps and structs; their arguments are made of plain columns."""

from __future__ import annotations

_A = "array(i, m, NULL, i)"
_B = "array(m, 3, i)"
_X = "array(x, y, x, -0.0D)"
_M = "map('a', i, 'b', m)"
_N = "IF(b, array(i, 1), NULL)"

ARRAYS: tuple[str, ...] = (
    *(_A, _X, "array(t, u)", _M, "struct(i, t)", "named_struct('a', i, 'b', t).b", "array(p, q)"),
    *(f"{_A}[0]", f"{_A}[m]", f"{_M}['a']", f"{_M}['z']", "named_struct('a', i)"),
    *(f"array_append({_A}, m)", f"array_append({_N}, i)", f"array_prepend({_N}, i)"),
    *(f"array_compact({_A})", f"array_compact({_N})"),
    *(f"array_contains({_A}, m)", f"array_contains({_B}, i)", f"array_contains({_X}, 0.0D)"),
    *(f"array_contains({_N}, 1)", f"array_contains({_X}, x)"),
    *(f"array_distinct({_A})", f"array_distinct({_X})"),
    *(f"array_except({_A}, {_B})", f"array_intersect({_A}, {_B})", f"array_union({_A}, {_B})"),
    *(f"array_union({_N}, {_B})", f"arrays_overlap({_A}, {_B})", f"arrays_overlap({_N}, {_B})"),
    *(f"array_insert({_A}, m, 9)", f"array_insert({_N}, -2, 9)"),
    *("array_join(array(t, u), '-')", "array_join(array(t, u), u, '?')"),
    *(f"array_max({_A})", f"array_min({_A})", f"array_max({_X})", "array_max(array(t, u))"),
    *(f"array_position({_A}, m)", f"array_position({_B}, 3)", f"array_remove({_A}, m)"),
    *("array_repeat(i, m)", "array_repeat(t, 2)"),
    *(f"size({_A})", f"size({_N})", f"cardinality({_M})", f"array_size({_N})"),
    *(f"array_sort({_A})", f"sort_array({_A})", f"sort_array({_A}, FALSE)", f"sort_array({_X})"),
    *("array_sort(array(t, u))", f"arrays_zip({_N}, {_B})"),
    *(f"concat({_A}, {_B})", f"concat({_N}, {_B})"),
    *(f"element_at({_A}, m)", f"element_at({_M}, 'a')", f"try_element_at({_B}, m)"),
    *(f"get({_B}, m)", f"flatten(array({_A}, {_N}))", f"flatten(array({_A}, {_B}))"),
    *(f"reverse({_A})", "reverse(t)", "sequence(m, 3)", "sequence(3, m, 2)"),
    *(f"slice({_A}, 2, 2)", f"slice({_A}, m, 2)", f"slice({_A}, -2, m)"),
    *(f"map_keys({_M})", f"map_values({_M})", f"map_entries({_M})"),
    *(f"map_contains_key({_M}, 'a')", f"map_concat({_M}, map('c', 1))", "map(t, i)"),
    *(f"map_concat({_M}, map('b', 1))", "map_from_arrays(array('a', 'b'), array(i, m))"),
    *(
        "map_from_entries(array(named_struct('k', 'a', 'v', i), named_struct('k', 'b', 'v', m)))",
        "str_to_map(t, '#', 'b')",
    ),
    "str_to_map('a:1,b,c:')",
    *(f"transform({_A}, z -> z + 1L)", f"transform({_B}, (z, n) -> z * n)"),
    *(f"transform({_N}, z -> concat(t, 'x'))", f"filter({_A}, z -> z > 1)"),
    *(f"exists({_A}, z -> z > 2)", f"forall({_A}, z -> z < 5)", f"exists({_N}, z -> z = 1)"),
    *(f"aggregate({_B}, 0L, (s, z) -> s + z)", f"aggregate({_N}, 1L, (s, z) -> s * z, s -> s + 1)"),
    f"reduce({_B}, 0L, (s, z) -> s + z)",
    f"zip_with({_N}, {_B}, (v, z) -> coalesce(v, z))",
    *(f"map_filter({_M}, (n, v) -> v > 1)", f"transform_values({_M}, (n, v) -> v IS NULL)"),
    *(
        f"transform_keys({_M}, (n, v) -> concat(n, 'x'))",
        "transform_keys(map(1, i), (n, v) -> n + 1L)",
    ),
    *(f"transform({_N}, z -> transform({_B}, w -> w > z))", f"{_A} = {_B}", f"{_A} < {_B}"),
    *("struct(i, t) = struct(m, t)", f"CAST({_A} AS ARRAY<BIGINT>)"),
    "CAST(array(t, u) AS ARRAY<INT>)",
)
