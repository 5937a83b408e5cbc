"""Positions as networks see them: dlshogi's planes and labels, the features of YaneuraOu's NNUE."""

from kyokumen._native import dlshogi, dlshogi_labels, halfka_hm, halfkp

__all__ = ["HALFKA_HM", "HALFKP", "LABELS", "dlshogi", "dlshogi_labels", "halfka_hm", "halfkp"]

LABELS = 2187
"""Labels of moves: outputs of a policy of dlshogi."""

HALFKP = 125388
"""Features of HalfKP, for each side."""

HALFKA_HM = 73305
"""Features of HalfKA_hm2, for each side."""
