"""The bodies of requests and answers. Names of fields are those of OpenAI's API and of text-embeddings-inference."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic_core import PydanticCustomError

from firth.pooling import TextPooling
from firth.vectors.neighbors import AnalogyMethod

MOST = 1000  # neighbors, answers or labels
Top = Annotated[int, Field(ge=1, le=MOST)]
Word = Annotated[str, Field(min_length=1, max_length=1000)]
ModelName = Annotated[str | None, Field(description="Name of a model; the first that can answer if absent.")]
Inputs = Annotated[
    str | Annotated[list[str], Field(min_length=1)], Field(description="A text, or a list of at least one text.")
]
Dimensions = Annotated[int | None, Field(ge=1, description="Must be the length of the model's vectors.")]
LayerName = Annotated[
    Literal["mix", "all", "top", "context"] | Annotated[int, Field(ge=0, le=64)] | None,
    Field(description="biLMs only: mean of the layers, all layers, the top layer, the context, or a layer's number."),
]


class Body(BaseModel):
    """A request. A field that does not exist is an error, so that a misspelled one does not pass for a default."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class TextFields(Body):
    """Fields of text-embeddings-inference that clients send, though there is nothing here that they could change."""

    truncate: Annotated[bool | None, Field(description="Has no effect: texts are never cut.")] = None
    truncation_direction: Annotated[str | None, Field(description="Has no effect.")] = None


class PromptFields(TextFields):
    """The same where a model could have prompts."""

    prompt_name: Annotated[None, Field(description="Must be null: these models have no prompts.")] = None


class MixWeights(Body):
    """The weights of a mix: γ · Σ softmax(weights)_j · layer_j."""

    weights: Annotated[list[float], Field(min_length=1, max_length=65)]
    gamma: float = 1.0


class OpenAiRequest(BaseModel):
    """A request of OpenAI's embeddings API. Fields that firth does not know are ignored, as clients send many."""

    model_config = ConfigDict(json_schema_extra={"example": {"model": "word2vec-en", "input": ["hot tea", "rain"]}})

    input: Inputs
    model: ModelName = None
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: Dimensions = None
    user: str | None = None

    @field_validator("input", mode="before")
    @classmethod
    def refuse_token_ids(cls, given: Any) -> Any:
        """Token ids, which some clients send by default, are those of OpenAI's tokenizers."""
        if isinstance(given, list) and any(type(one) in (int, list) for one in given):
            problem = "has token ids, which belong to models of OpenAI. Send texts"
            raise PydanticCustomError("token_ids", f"{problem}; in LangChain: check_embedding_ctx_length=False")
        return given


class EmbedRequest(PromptFields):
    """Texts to embed, with the fields of text-embeddings-inference and, beyond them, pooling, layers and mix."""

    model_config = ConfigDict(
        extra="forbid",
        allow_inf_nan=False,
        json_schema_extra={"example": {"inputs": ["They play well.", "A Broadway play."], "normalize": True}},
    )

    inputs: Inputs
    model: ModelName = None
    normalize: Annotated[bool, Field(description="Scale vectors of texts to length 1.")] = True
    pooling: Annotated[
        Literal[TextPooling, "none"],
        Field(description="How the vectors of words become one vector; none gives the words and their vectors."),
    ] = "mean"
    layers: LayerName = None
    mix: MixWeights | None = None
    dimensions: Dimensions = None


class EmbedAllRequest(PromptFields):
    """Texts whose words are embedded."""

    model_config = ConfigDict(
        extra="forbid",
        allow_inf_nan=False,
        json_schema_extra={"example": {"inputs": ["They play well."], "layers": "top"}},
    )

    inputs: Inputs
    model: ModelName = None
    layers: LayerName = None
    mix: MixWeights | None = None


class SimilarityInputs(Body):
    """A sentence and the sentences that it is compared with."""

    source_sentence: str
    sentences: Annotated[list[str], Field(min_length=1)]


class SimilarityRequest(Body):
    """A request for cosines."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"example": {"inputs": {"source_sentence": "hot tea", "sentences": ["warm coffee", "rain"]}}},
    )

    inputs: SimilarityInputs
    model: ModelName = None
    pooling: TextPooling = "mean"
    parameters: PromptFields | None = None


class PredictParameters(Body):
    """What the client of huggingface_hub sends beside the inputs of a classifier."""

    top_k: Annotated[Top | None, Field(description="Another name of top.")] = None
    function_to_apply: Annotated[None, Field(description="Must be null: scores are probabilities.")] = None


class PredictRequest(TextFields):
    """Inputs of a task or a classifier. An input is a text, or a list of texts where a task needs several."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"example": {"inputs": ["Elon Musk founded SpaceX."], "top": 5}}
    )

    inputs: Annotated[
        str | Annotated[list[str | Annotated[list[str], Field(min_length=1, max_length=64)]], Field(min_length=1)],
        Field(description="A text or a list of inputs: texts or, for qa and entailment, lists of texts."),
    ]
    model: ModelName = None
    top: Annotated[Top, Field(description="Number of labels of /predict.")] = 5
    raw_scores: Annotated[Literal[False], Field(description="Must be false: scores are probabilities.")] = False
    parameters: PredictParameters | None = None


class NeighborsRequest(Body):
    """Words whose neighbors are wanted: those of the mean of the words less the negative ones."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {"words": ["tea"], "top": 5}})

    words: Annotated[list[Word], Field(min_length=1, max_length=1000)]
    negative: Annotated[list[Word], Field(max_length=1000)] = []
    top: Top = 10
    model: ModelName = None


class AnalogyRequest(Body):
    """a is to b as c is to which word?"""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {"a": "man", "b": "king", "c": "woman"}})

    a: Word
    b: Word
    c: Word
    top: Top = 5
    method: AnalogyMethod = "3cosadd"
    model: ModelName = None


class ScoreRequest(Body):
    """Sentences whose probabilities are wanted."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {"inputs": ["strong tea", "powerful tea"]}})

    inputs: Inputs
    model: ModelName = None


class OpenAiEmbedding(BaseModel):
    """A vector of OpenAI's API: numbers, or their float32 bytes in base64."""

    object: Literal["embedding"]
    index: int
    embedding: list[float] | str


class Usage(BaseModel):
    """The number of tokens."""

    prompt_tokens: int
    total_tokens: int


class OpenAiAnswer(BaseModel):
    """The answer of OpenAI's embeddings API."""

    object: Literal["list"]
    data: list[OpenAiEmbedding]
    model: str
    usage: Usage


class ModelEntry(BaseModel):
    """A model of the server."""

    id: str
    object: Literal["model"]
    created: int
    owned_by: str
    kind: str
    abilities: list[str]


class ModelList(BaseModel):
    """The models of the server."""

    object: Literal["list"]
    data: list[ModelEntry]


class EmbeddedText(BaseModel):
    """The words of a text and their vectors: one for each, or one for each layer and word."""

    tokens: list[str]
    vectors: list[list[float]] | list[list[list[float]]]


class ScoredWord(BaseModel):
    """A word with its cosine or its score."""

    word: str
    score: float


class ScoredLabel(BaseModel):
    """A label with its probability, in the form of text-embeddings-inference."""

    label: str
    score: float


class ErrorDetails(BaseModel):
    """What was wrong, in OpenAI's form."""

    message: str
    type: str
    code: int
    param: str | None = None


class ErrorAnswer(BaseModel):
    """The body of every answer that is not a success."""

    error: ErrorDetails


class Info(BaseModel):
    """What the server is, in the form of text-embeddings-inference."""

    model_id: str
    model_type: dict[str, Any]
    version: str
    max_input_length: int
    max_batch_tokens: int
    max_client_batch_size: int
    max_concurrent_requests: int
    models: list[str]


class Status(BaseModel):
    """Whether the server can answer."""

    status: str
