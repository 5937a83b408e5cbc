"""Network inputs: dlshogi's planes and labels, and the features of YaneuraOu's NNUE."""

from kyokumen._native import dlshogi, dlshogi_labels, halfka_hm, halfkp

__all__ = ["HALFKA_HM", "HALFKP", "LABELS", "dlshogi", "dlshogi_labels", "halfka_hm", "halfkp"]

LABELS = 2187
"""Number of move labels: outputs of dlshogi's policy."""

HALFKP = 125388
"""Number of HalfKP features for each side."""

HALFKA_HM = 73305
"""Number of HalfKA_hm2 features for each side."""
