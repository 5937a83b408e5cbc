//! Planes and labels: figures of `cshogi.dlshogi`, and properties of all positions.

use kyokumen_network::{
    BOARD, INPUT1_BYTES, INPUT1_PLANES, Input2, LABELS, move_label, write_input1,
    write_input1_bits, write_input2, write_input2_bits,
};
use kyokumen_shogi::{Color, HandKind, Move, Piece, Position, Setup, Square};
use kyokumen_testing::positions::{position, random_play};

fn input1(position: &Position) -> Vec<f32> {
    // Previous contents must be overwritten.
    let mut numbers = vec![7.0; INPUT1_PLANES * BOARD];
    write_input1(position, &mut numbers);
    numbers
}

fn input2(position: &Position, kind: Input2) -> Vec<f32> {
    let mut numbers = vec![7.0; kind.planes() * BOARD];
    write_input2(position, kind, &mut numbers);
    numbers
}

/// The sum of each plane; all numbers are 0 or 1.
fn sums(numbers: &[f32]) -> Vec<usize> {
    let is_one = |number: &f32| {
        let bits = number.to_bits();
        assert!(bits == 0 || bits == 1.0_f32.to_bits(), "{number}");
        bits != 0
    };
    numbers
        .chunks(BOARD)
        .map(|plane| plane.iter().filter(|&number| is_one(number)).count())
        .collect()
}

/// The planes of `input2` that are 1.
fn set(position: &Position, kind: Input2) -> Vec<usize> {
    let sums = sums(&input2(position, kind));
    assert!(sums.iter().all(|&sum| sum == 0 || sum == 81));
    (0..sums.len()).filter(|&plane| sums[plane] > 0).collect()
}

/// Squares of the pieces, squares attacked by each kind, squares attacked at least once, twice and three times.
#[test]
fn sums_of_the_start_position_match_cshogi() {
    let side = [
        9, 2, 2, 2, 1, 1, 2, 1, 0, 0, 0, 0, 0, 0, //
        9, 4, 4, 6, 4, 9, 8, 5, 0, 0, 0, 0, 0, 0, //
        30, 12, 6,
    ];
    assert_eq!(sums(&input1(&Position::start())), [side, side].concat());
    assert!(set(&Position::start(), Input2::EnteringKings).is_empty());
}

#[test]
fn hands_are_unary_and_check_is_the_last_plane() {
    let position = position("4k4/9/9/9/9/9/9/9/4K2r1 b RB2G9P2n3l3p 1");
    assert_eq!(
        set(&position, Input2::Hands),
        [
            (0..8).collect::<Vec<_>>(),
            vec![20, 21],
            vec![24, 26],
            (28..31).collect(),
            (36..39).collect(),
            vec![40, 41],
            vec![56],
        ]
        .concat()
        .into_iter()
        .filter(|&plane| plane != 56 || position.in_check())
        .collect::<Vec<_>>()
    );
    assert!(position.in_check());
}

/// Planes 57 to 87 are the planes of the side to move, 88 to 118 of the opponent. Figures of `cshogi.dlshogi` 1.1.
#[test]
fn planes_of_entering_kings_match_cshogi() {
    let mover_planes = |planes: &[usize]| planes.iter().map(|plane| 57 + plane).collect::<Vec<_>>();
    let cases = [
        ("8k/9/9/9/9/9/9/9/K8 b - 1", &[][..]),
        ("K8/PPP6/9/9/9/9/9/9/8k b - 1", &[0, 8]),
        ("K8/PPPPPPPPP/P8/9/9/9/9/9/8k b - 1", &[0, 1, 29]),
        ("K8/PPPPPPPPP/PP7/9/9/9/9/9/8k b - 1", &[0, 28]),
        ("K8/PPPPPPPPP/PP7/9/9/9/9/9/8k b RB5P 1", &[0, 13]),
        ("K8/PPPPPPPPP/PP7/9/9/9/9/9/8k b 2RB2P 1", &[0, 11]),
        ("K8/PPPPPPPPP/PP7/9/9/9/9/9/8k b 2R2B2P 1", &[0]),
        ("9/PPPPPPPPP/9/9/9/8k/9/9/K8 b R 1", &[2, 25]),
        ("K8/9/9/9/9/9/9/9/8k b R4P 1", &[0, 30]),
        ("K8/9/9/9/9/9/9/9/8k b R3P 1", &[0]),
        ("8K/9/9/9/9/9/9/p8/k8 w r2p 1", &[0, 10, 30]),
        ("8K/9/9/9/9/9/9/pppppppp1/k8 w 2rb3g 1", &[0, 3, 12]),
        ("8K/9/9/9/9/9/9/pppppppp1/k8 w 2r2b 1", &[0, 3]),
    ];
    for (sfen, planes) in cases {
        let seen = set(&position(sfen), Input2::EnteringKings);
        let seen: Vec<_> = seen.into_iter().filter(|plane| (57..88).contains(plane)).collect();
        assert_eq!(seen, mover_planes(planes), "{sfen}");
    }
}

/// The same position with colours exchanged.
fn turned(position: &Position) -> Position {
    let setup = position.setup();
    let mut board = [None; Square::COUNT];
    for square in Square::all() {
        let piece = setup.board()[square.rotated().index()];
        board[square.index()] = piece.map(|piece| Piece::new(!piece.color, piece.kind));
    }
    let [black, white] = setup.hands();
    Setup::new(board, [white, black], !setup.side_to_move(), 1).unwrap().try_into().unwrap()
}

#[test]
fn both_colours_see_the_same() {
    for position in random_play(81, 2_000) {
        let turned = turned(&position);
        assert_eq!(input1(&position), input1(&turned), "{position}");
        let kind = Input2::Hands;
        assert_eq!(input2(&position, kind), input2(&turned, kind), "{position}");
        for m in position.legal_moves() {
            let mirrored = match (m.from(), m.dropped()) {
                (Some(from), _) => Move::new(from.rotated(), m.to().rotated(), m.is_promotion()),
                (None, kind) => Move::drop(kind.unwrap(), m.to().rotated()),
            };
            let mover = position.side_to_move();
            assert_eq!(move_label(m, mover), move_label(mirrored, !mover), "{m} in {position}");
        }
    }
}

#[test]
fn moves_of_a_position_have_different_labels() {
    for position in random_play(82, 5_000) {
        let mover = position.side_to_move();
        let moves = position.legal_moves();
        let mut labels: Vec<u16> = moves.iter().map(|&m| move_label(m, mover)).collect();
        labels.sort_unstable();
        labels.dedup();
        assert_eq!(labels.len(), moves.len(), "{position}");
        assert!(labels.iter().all(|&label| usize::from(label) < LABELS));
    }
}

/// Figures of `cshogi.dlshogi`.
#[test]
fn labels_match_cshogi() {
    assert_eq!(move_label(Move::from_usi("7g7f").unwrap(), Color::Black), 59);
    assert_eq!(move_label(Move::from_usi("B*5e").unwrap(), Color::Black), 1984);
    let drops = HandKind::ALL.map(|kind| {
        let square = Square::from_usi(b"1a").unwrap();
        move_label(Move::drop(kind, square), Color::Black) / 81
    });
    assert_eq!(drops, [20, 21, 22, 23, 26, 24, 25]);
}

/// Each bit equals its plane, and the padding is 0.
#[test]
fn bits_equal_the_planes() {
    for position in random_play(11, 300) {
        let mut bits = [0xff; INPUT1_BYTES];
        write_input1_bits(&position, &mut bits);
        let numbers = input1(&position);
        let bit = |bits: &[u8], place: usize| bits[place / 8] >> (place % 8) & 1 == 1;
        for place in 0..8 * INPUT1_BYTES {
            let number = numbers.get(place).copied().unwrap_or_default();
            assert_eq!(bit(&bits, place), number > 0.0, "{place} of {position:?}");
        }
        for kind in [Input2::Hands, Input2::EnteringKings] {
            let mut bits = vec![0xff; kind.bytes()];
            write_input2_bits(&position, kind, &mut bits);
            let set = set(&position, kind);
            for plane in 0..8 * kind.bytes() {
                assert_eq!(bit(&bits, plane), set.contains(&plane), "{plane}");
            }
        }
    }
}
