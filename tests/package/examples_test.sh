#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds runtime/examples against an installed libqrt, and runs them on images whose answers are known.
# examples_test.sh CMAKE GENERATOR BUILD_DIR SOURCE_DIR QRT_CONVERT FRAME_MODEL CC CXX
set -eu
cmake=$1 CMAKE_GENERATOR=$2 build=$3 source=$4 convert=$5 frames=$6 CC=$7 CXX=$8
export CMAKE_GENERATOR CC CXX CFLAGS=-Werror CXXFLAGS=-Werror
digits=$source/tests/models/digits
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log"; echo "failed: $*"; exit 1; }; }
same() { cmp "$work/$1" "$work/$2" || { echo "$3"; exit 1; }; }

quietly "$cmake" --install "$build" --prefix "$work/qrt" --component qrt
quietly "$cmake" -S "$source/runtime/examples" -B "$work/examples" -DCMAKE_PREFIX_PATH="$work/qrt"
quietly "$cmake" --build "$work/examples"
CFLAGS='' CXXFLAGS='' quietly "$cmake" -S "$source/runtime/examples" -B "$work/sub" -DQRT_SOURCE_DIR="$source"
cd "$work/examples"

quietly "$convert" "$digits/digits.onnx" -o "$work/digits.qrt"
tail -c 92160 "$digits/images.npy" >"$work/images"
tail -c 360 "$digits/labels.npy" | od -An -v -tu1 -w1 | tr -d ' ' >"$work/labels"
./classify_cc "$work/digits.qrt" "$work/images" >"$work/answers"
right=$(paste -d ' ' "$work/labels" "$work/answers" | awk '$1 == $2 { ++n } END { print n }')
echo "classify_cc: $right of 360"
[ "$right" -ge 350 ]
for threads in 1 2 3; do
  ./own_pool "$work/digits.qrt" "$work/images" $threads >"$work/pool"
  same answers pool "own_pool with $threads threads answers something else"
done
# The budget has room for two sessions, then for none.
needed=$(./server "$work/digits.qrt" "$work/images" 1 1000000000 2>&1 >"$work/pool" | sed -n 's/^1 workers, \([0-9]*\) bytes each$/\1/p')
same answers pool "server answers something else"
./server "$work/digits.qrt" "$work/images" 3 $((3 * needed - 1)) >"$work/pool" 2>"$work/log"
same answers pool "server with two workers answers something else"
grep -qx "2 workers, $needed bytes each" "$work/log" || { cat "$work/log"; exit 1; }
./server "$work/digits.qrt" "$work/images" 3 $((needed - 1)) 2>"$work/log" && { echo "server without memory ran"; exit 1; }
grep -q "a session takes $needed bytes" "$work/log"
for i in 0 17 359; do
  tail -c +$((256 * i + 1)) "$work/images" | head -c 256 >"$work/image"
  ./classify_c "$work/digits.qrt" "$work/image"
done >"$work/some"
sed -n '1p;18p;360p' "$work/answers" >"$work/expected"
same expected some "classify_c answers something else"

# By name, with and without exceptions; in memory of the program's; as frames of a camera.
for i in 0 17 359; do
  tail -c +$((256 * i + 1)) "$work/images" | head -c 256 >"$work/image"
  ./names "$work/digits.qrt" image logits "$work/image" >>"$work/by_name"
  ./no_exceptions "$work/digits.qrt" image logits "$work/image" >>"$work/by_outcome"
  QRT_ISA=z80 ./static_memory "$work/digits.qrt" "$work/image" >>"$work/static" 2>"$work/log"
  grep -Eqx '[0-9]+ bytes aligned to 64' "$work/log" && grep -q '^qrt: .*z80' "$work/log" || { cat "$work/log"; exit 1; }
done
sed -n '1p;18p;360p' "$work/answers" >"$work/expected"
for answers in by_name by_outcome static; do same expected $answers "$answers answers something else"; done
for program in names no_exceptions; do
  ./$program "$work/digits.qrt" image nothing "$work/image" 2>"$work/log" && { echo "$program found an output"; exit 1; }
  grep -qx "no output is called 'nothing'" "$work/log" || { cat "$work/log"; exit 1; }
done
# Pixels of 0 to 16, which the model takes as floats: a byte each in a frame.
od -An -v -tfF -w4 "$work/images" | awk '{ printf "\\%03o", $1 }' >"$work/octal"
printf "$(cat "$work/octal")" >"$work/gray"
./frames "$work/digits.qrt" gray 8 8 1 <"$work/gray" >"$work/seen"
same answers seen "frames answers something else"
for format in rgb rgba nv12; do
  head -c 1200 "$work/images" | ./frames "$work/digits.qrt" $format 20 10 0.06 >"$work/seen"
  [ -s "$work/seen" ] || { echo "frames sees nothing in $format"; exit 1; }
done

# Rows of 8 floats that begin 11 apart; a stride shorter than a row.
for i in 0 17 359; do
  tail -c +$((256 * i + 1)) "$work/images" | head -c 256 >"$work/image"
  ./arrays "$work/digits.qrt" 8 <"$work/image" >>"$work/dense"
  for row in 0 1 2 3 4 5 6 7; do
    tail -c +$((32 * row + 1)) "$work/image" | head -c 32
    printf 'gapgapgapgap'
  done | ./arrays "$work/digits.qrt" 11 >>"$work/strided"
done
for answers in dense strided; do same expected $answers "arrays answers something else of rows that are $answers"; done
./arrays "$work/digits.qrt" 7 <"$work/image" 2>"$work/log" && { echo "arrays took rows of 7"; exit 1; }
grep -qx 'the stride is shorter than a row' "$work/log"

# Models that a script makes. 3 seconds of noise, in which somebody whistles from 1.0 to 1.5.
for model in voice decoder sentences detector; do
  quietly python3 "$source/runtime/examples/models.py" $model "$work/$model.onnx"
done
quietly "$convert" "$work/voice.onnx" -o "$work/voice.qrt" --state noise=next_noise --state power=next_power --state speech=next_speech
quietly "$convert" "$work/decoder.onnx" -o "$work/decoder.qrt" --allow-float --state keys=next_keys --state values=next_values \
  --state context=next_context --state position=next_position
quietly "$convert" "$work/sentences.onnx" -o "$work/sentences.qrt"
quietly "$convert" "$work/detector.onnx" -o "$work/detector.qrt"
python3 - "$work/sound" <<'END'
import math, random, struct, sys
random.seed(3)
with open(sys.argv[1], "wb") as file:
    for n in range(3 * 16000):
        tones = sum(math.sin(2 * math.pi * f * n / 16000) for f in (440, 880, 1300)) if 16000 <= n < 24000 else 0
        file.write(struct.pack("<h", round(320 * random.gauss(0, 1) + 4000 * tones)))
END
./voice "$work/voice.qrt" <"$work/sound" >"$work/heard"
awk '{ speaks = $1 > 0.5; if (NR <= 62 || NR > 120 ? speaks : NR >= 64 && NR <= 93 && !speaks) exit 1 } END { if (NR != 187) exit 1 }' "$work/heard" ||
  { cat "$work/heard"; echo "voice hears something else"; exit 1; }
{
  head -c $((512 * 70)) "$work/sound" | QRT_ISA=scalar ./voice "$work/voice.qrt" "$work/state"
  tail -c +$((512 * 70 + 1)) "$work/sound" | ./voice "$work/voice.qrt" "$work/state"
} >"$work/seen"
same heard seen "voice hears something else in a stream that was parked"
head -c 100 "$work/state" >"$work/short"
./voice "$work/voice.qrt" "$work/short" <"$work/sound" 2>"$work/log" && { echo "voice took a short state"; exit 1; }
grep -qx 'the file of the state is too short' "$work/log"
for isa in scalar ''; do
  [ "$(QRT_ISA=$isa ./decoder "$work/decoder.qrt" 'one two, one t' 16)" = 'wo, one two, one' ] ||
    { echo "decoder goes on in another way"; exit 1; }
done
./decoder "$work/decoder.qrt" 'one two, one t' 200 >"$work/seen" 2>"$work/log" && { echo "decoder has no last place"; exit 1; }
grep -qx 'no place is left in the cache, or no such token' "$work/log"
[ "$(wc -c <"$work/seen")" = 116 ] || { cat "$work/seen"; echo "decoder has another number of places"; exit 1; }
printf '0 1 2\n3 4\n8 9 10 11\n5 0 7 6 6\n16\n' | ./sentences "$work/sentences.qrt" >"$work/seen"
awk '{ near = $1 > 0.9; if (near != (NR == 1 || NR == 2 || NR == 4)) exit 1 } END { if (NR != 5) exit 1 }' "$work/seen" ||
  { cat "$work/seen"; echo "sentences are alike in another way"; exit 1; }
printf '1\n40\n' | ./sentences "$work/sentences.qrt" >"$work/seen" 2>"$work/log" && { echo "sentences knows every id"; exit 1; }
grep -q '^index 40 of .ids. is outside the 40 rows' "$work/log"
awk 'BEGIN { for (i = 0; i < 1024; ++i) { x = i % 32; y = int(i / 32)
  printf "\\%03o", (x >= 7 && x < 12 && y >= 5 && y < 10) || (x >= 25 && x < 30 && y >= 20 && y < 25) ? 220 : 30 } }' >"$work/octal"
{ printf "$(cat "$work/octal")"; head -c 1024 /dev/zero; } | ./detector "$work/detector.qrt" 0.3 >"$work/seen"
printf '0.75 7 5 12 10\n0.75 25 20 30 25\n\n\n' >"$work/expected"
same expected seen "detector sees something else"

./tour "$work/digits.qrt" 2 >"$work/told"
for line in '^instruction sets: scalar' '^from onnx, with the bits of ort-' '^input 0: image float32 \[-1, 1, 8, 8\]$' '^threads: 2$' \
  '^a session on .* with [12] threads takes [0-9]* bytes$' '^logits: [0-9a-f ]*$' '^operator 0: Quantize by ' '^tensor 0: '; do
  grep -q "$line" "$work/told" || { cat "$work/told"; echo "tour does not say $line"; exit 1; }
done
./tour "$work/nothing.qrt" >"$work/told" 2>"$work/log" && { echo "tour loaded nothing"; exit 1; }
grep -qx 'IO_ERROR: Bad file descriptor' "$work/log"
# A stranger finds every function of the interface in an example, a consumer or the test in C.
for function in $(sed -n 's/^QRT_API .*[ *]\(qrt_[a-z_]*\)(.*/\1/p' "$source"/runtime/include/qrt/*.h); do
  grep -qw "$function" "$source"/runtime/examples/*.c* "$source"/tests/package/consumer.c* "$source/tests/runtime/c_api_test.c" ||
    { echo "no example uses $function"; exit 1; }
done

# 8 frames of noise, with more of them than the ring has buffers.
head -c $((8 * 243)) "$work/images" >"$work/frames"
./camera "$frames" <"$work/frames" >"$work/seen"
for i in 0 1 2 3 4 5 6 7; do
  tail -c +$((243 * i + 1)) "$work/frames" | head -c 243 >"$work/frame"
  ./classify_c "$frames" "$work/frame"
done >"$work/expected"
same expected seen "camera sees something else than classify_c"
[ "$(sort -u "$work/seen" | wc -l)" -gt 1 ] || { echo "all frames look the same"; exit 1; }
echo "examples_test: passed"
