"""Word vectors as a model of sentence-transformers: a `StaticEmbedding`, which is a table and a mean.

The folder has `modules.json`, and in `0_StaticEmbedding` the vectors as safetensors and the tokenizer as JSON: nothing
of firth is needed to use it, and nothing of sentence-transformers to write it.
"""

from __future__ import annotations

import json
from typing import Any

from firth.arguments import checked
from firth.exchange.static_tokenizer import build_tokenizer, lookup_rows
from firth.files import Name, atomic_folder
from firth.formats import safetensors
from firth.vectors.words import WordVectors

MODULE = "0_StaticEmbedding"
MODULES = [{"idx": 0, "name": "0", "path": MODULE, "type": "sentence_transformers.models.StaticEmbedding"}]
SETTINGS: dict[str, Any] = {
    "__version__": {},
    "prompts": {},
    "default_prompt_name": None,
    "similarity_fn_name": "cosine",
}
CARD = """---
library_name: sentence-transformers
tags:
- sentence-transformers
- feature-extraction
- static-embeddings
- word-representations
---

# Word vectors as a sentence-transformers model

{words:,} words, {dim} numbers each, written by firth. A text is the mean of the vectors of its words; words without a
vector do not count, and a text without any is a vector of zeros.

```python
from sentence_transformers import SentenceTransformer

model = SentenceTransformer("this-folder", device="cpu")
model.encode(["A text."])
```
"""


@checked
def save_static_embedding(vectors: WordVectors, folder: Name) -> None:
    """Writes vectors as a folder that `SentenceTransformer(folder)` opens; `encode` there is `vectors.encode` here.

    Vectors with character n-grams lose them: there, an unseen word has no vector.
    """
    table, further = build_tokenizer(vectors)
    with atomic_folder(folder) as place:
        (place / MODULE).mkdir()
        (place / "modules.json").write_text(json.dumps(MODULES, indent=2) + "\n", encoding="utf-8")
        settings = json.dumps(SETTINGS, indent=2) + "\n"
        (place / "config_sentence_transformers.json").write_text(settings, encoding="utf-8")
        (place / "README.md").write_text(CARD.format(words=len(vectors), dim=vectors.dim), encoding="utf-8")
        tokenizer = json.dumps(table, ensure_ascii=False)
        (place / MODULE / "tokenizer.json").write_text(tokenizer, encoding="utf-8")
        safetensors.write({"embedding.weight": lookup_rows(vectors, further)}, place / MODULE / "model.safetensors")
