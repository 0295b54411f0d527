"""Types of the values in a scenario file: numbers with units, vectors and tables of them."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from tautline.units import WORDS, shown, to_si

_T = TypeVar("_T")


class Section(BaseModel):
    """A section of a file: no unknown keys, no guessing of types, no infinities."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True)


class ToSi:
    """Reader of numbers in one unit; an object and not a function, so that `unit_of_field` can ask it."""

    def __init__(self, unit: str) -> None:
        self.unit = unit

    def __call__(self, value: Any) -> float | str:
        return to_si(value, self.unit)


class StepToSi(ToSi):
    """Reader of a time or the word "auto"."""

    def __call__(self, value: Any) -> float | str:
        try:
            return "auto" if isinstance(value, str) and value == "auto" else to_si(value, self.unit)
        except ValueError as error:
            raise ValueError(str(error).replace("expected", "expected 'auto' or", 1)) from None


def _quantity(unit: str) -> BeforeValidator:
    # for the JSON schema: a number, or text with a unit
    return BeforeValidator(ToSi(unit), json_schema_input_type=float | str)


def _schema(unit: str) -> dict[str, Any]:
    return {"description": f"{WORDS[unit]} in {unit}, or text with a unit"}


Length = Annotated[float, _quantity("m"), Field(json_schema_extra=_schema("m"))]
Mass = Annotated[float, _quantity("kg"), Field(json_schema_extra=_schema("kg"))]
Time = Annotated[float, _quantity("s"), Field(json_schema_extra=_schema("s"))]
Force = Annotated[float, _quantity("N"), Field(json_schema_extra=_schema("N"))]
LineDensity = Annotated[float, _quantity("kg/m"), Field(json_schema_extra=_schema("kg/m"))]
Inertia = Annotated[float, _quantity("kg*m^2"), Field(json_schema_extra=_schema("kg*m^2"))]
Speed = Annotated[float, _quantity("m/s"), Field(json_schema_extra=_schema("m/s"))]
Acceleration = Annotated[float, _quantity("m/s^2"), Field(json_schema_extra=_schema("m/s^2"))]
AngularVelocity = Annotated[float, _quantity("rad/s"), Field(json_schema_extra=_schema("rad/s"))]
Angle = Annotated[float, _quantity("rad"), Field(json_schema_extra=_schema("rad"))]
Moment = Annotated[float, _quantity("N*m"), Field(json_schema_extra=_schema("N*m"))]
Viscosity = Annotated[float, _quantity("N*s"), Field(json_schema_extra=_schema("N*s"))]
RotaryDamping = Annotated[float, _quantity("N*m*s"), Field(json_schema_extra=_schema("N*m*s"))]
Density = Annotated[float, _quantity("kg/m^3"), Field(json_schema_extra=_schema("kg/m^3"))]
Area = Annotated[float, _quantity("m^2"), Field(json_schema_extra=_schema("m^2"))]
Volume = Annotated[float, _quantity("m^3"), Field(json_schema_extra=_schema("m^3"))]
Power = Annotated[float, _quantity("W"), Field(json_schema_extra=_schema("W"))]
Jerk = Annotated[float, _quantity("m/s^3"), Field(json_schema_extra=_schema("m/s^3"))]
Stiffness = Annotated[float, _quantity("N/m"), Field(json_schema_extra=_schema("N/m"))]
Damping = Annotated[float, _quantity("N*s/m"), Field(json_schema_extra=_schema("N*s/m"))]


# A fixed step, or "auto".
def _elements(value: Any) -> Any:
    if value == "auto" or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise ValueError(f"expected a whole number or 'auto', got {shown(value)}")


Elements = Annotated[
    int | Literal["auto"],
    BeforeValidator(_elements, json_schema_input_type=int | Literal["auto"]),
    Field(json_schema_extra={"description": "number of elements, or 'auto' to choose it from the case"}),
]
Step = Annotated[float | str, BeforeValidator(StepToSi("s"), json_schema_input_type=float | str)]


class Form(NamedTuple):
    """What a list should look like."""

    what: str
    size: int | None
    plain: str
    with_units: str

    def expected(self, unit: str) -> str:
        """In words; `unit` is that of the numbers, empty if they have none."""
        if not unit:
            return f"{self.what}, each a number, such as {self.plain}"
        return f"{self.what}, each {WORDS[unit]}, such as {self.plain} or {self.with_units.format(unit=unit)}"


class ReadList:
    """Reader of lists of a form. Tuples will do as well: programs in Python have them."""

    def __init__(self, form: Form) -> None:
        self.form = form

    def __call__(self, value: Any) -> list[Any]:
        fits = isinstance(value, (list, tuple)) and self.form.size in (None, len(value))
        if not fits:
            raise PydanticCustomError(NO_LIST, "{form}", {"form": self.form})
        return list(value)


# Type of the error of a value that is no list of the right form.
NO_LIST = "no_list"
_PAIR = Form("a list of two", 2, "[3, 1]", "['3 {unit}', 1]")
_VECTOR = Form("a list of three", 3, "[3, 0, 0]", "['3 {unit}', 0, 0]")
_TABLE = Form("a list", None, "[0, 3]", "['0 {unit}', '3 {unit}']")
_VECTORS = Form("a list of vectors", None, "[[0, 0, 0], [3, 0, 0]]", "[[0, 0, 0], ['3 {unit}', 0, 0]]")
_MATRIX = Form("three rows of three", 3, "[[3, 0, 0], [0, 3, 0], [0, 0, 3]]", "[['3 {unit}', 0, 0], ...]")

# TOML has lists only, and in strict mode pydantic's tuples refuse them: every list of a file goes through one of these.
Pair = Annotated[list[_T], BeforeValidator(ReadList(_PAIR)), Field(min_length=2, max_length=2)]
Vector = Annotated[list[_T], BeforeValidator(ReadList(_VECTOR)), Field(min_length=3, max_length=3)]
Table = Annotated[list[_T], BeforeValidator(ReadList(_TABLE))]
Vectors = Annotated[list[Vector[_T]], BeforeValidator(ReadList(_VECTORS))]
Matrix = Annotated[list[Vector[_T]], BeforeValidator(ReadList(_MATRIX)), Field(min_length=3, max_length=3)]

# The default of vectors.
ZERO = [0.0, 0.0, 0.0]


def unit_of_field(annotation: Any, metadata: list[Any]) -> str:
    """Unit of a field of a section; empty for words, counts and plain numbers."""
    stack: list[Any] = [*metadata, annotation]
    while stack:
        found = stack.pop()
        if isinstance(found, BeforeValidator) and isinstance(found.func, ToSi):
            return found.func.unit
        stack += [*get_args(found), *getattr(found, "__metadata__", ())]
    return ""
