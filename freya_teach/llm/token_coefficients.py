"""What each feature of a piece of text costs, in tokens. (chapter 7.3)

Written by `.ci/tokens/fit.py`; `token_features.py` says what the features are. How wrong the
estimate is on kinds of text that were left out of the fit, one at a time:

- o200k_base: 285 pieces of 1500 characters: median error 4.2%, mean 6.9%, median over the
  66 kinds 5.4%; too low 26.7%, with the margin × 1.3 1.1% (source: median 31.9%, too low
  44.2%, with the same margin 26.3%)
- cl100k_base: 285 pieces of 1500 characters: median error 5.8%, mean 8.3%, median over the
  66 kinds 6.0%; too low 29.8%, with the margin × 1.3 1.8% (source: median 30.7%, too low
  50.2%, with the same margin 31.9%)
"""

COEFFICIENTS: dict[str, dict[str, float]] = {
    "o200k_base": {
        "arabic": -0.021,
        "blanks": 0.336,
        "cyrillic": -0.081,
        "digits": 0.0,
        "greek": 0.032,
        "han": 0.79,
        "hangul": 0.099,
        "hebrew": 0.026,
        "indic": -0.135,
        "kana": 0.151,
        "line": 1.818,
        "line changes": -1.018,
        "marks": 0.069,
        "mixed": 1.109,
        "more blanks": 0.021,
        "no blank": 0.236,
        "no blank, letters": -0.026,
        "other script": 0.315,
        "over 4": 0.064,
        "over 7": 0.072,
        "picture bytes": 0.403,
        "pictures": -0.121,
        "same letters": 0.124,
        "same lines": 0.448,
        "same signs": 0.021,
        "script": 0.163,
        "script bytes": 0.16,
        "sign changes": 0.358,
        "signs": 0.367,
        "thai": -0.088,
        "unusual": 0.176,
        "unusual, late": 0.107,
        "upper": 0.035,
        "word": 0.885,
    },
    "cl100k_base": {
        "arabic": 0.373,
        "blanks": 0.266,
        "cyrillic": 0.078,
        "digits": 0.0,
        "greek": 0.539,
        "han": 1.172,
        "hangul": 0.388,
        "hebrew": 0.575,
        "indic": 0.664,
        "kana": 0.28,
        "line": 1.831,
        "line changes": -0.736,
        "marks": 0.422,
        "mixed": 1.05,
        "more blanks": 0.021,
        "no blank": -0.008,
        "no blank, letters": 0.005,
        "other script": 1.34,
        "over 4": 0.002,
        "over 7": 0.249,
        "picture bytes": 0.644,
        "pictures": -0.809,
        "same letters": 0.125,
        "same lines": 0.449,
        "same signs": 0.023,
        "script": 0.117,
        "script bytes": 0.186,
        "sign changes": 0.453,
        "signs": 0.133,
        "thai": 0.397,
        "unusual": 0.24,
        "unusual, late": 0.253,
        "upper": 0.017,
        "word": 1.038,
    },
}
