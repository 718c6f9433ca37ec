#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Usage: disassembly_check.sh OBJDUMP NM KERNEL_FILES OBJECT...
#
# Looks into the objects of kernels built with instruction set flags, which KERNEL_FILES lists (<family>_<isa>, separated by
# commas; those of the scalar set have nothing to find). Other objects are passed over. A set that is not in kernels/isa.inc is
# an error, and one of an architecture whose instructions are not told below.
#  - no weak symbol but of the set's own namespace (kernels/isa/inline.h): the linker might take this copy of a shared
#    inline function for a CPU without the set;
#  - no vector register is moved to or from the stack in an innermost loop that multiplies (gemm, depthwise, grouped, winograd,
#    narrow, stem): accumulators in memory cost more than half of the speed and no other test would notice. (d8 to d15 of AArch64,
#    saved for the caller, do not count. depthwise_int16 keeps the sums of 64 channels in memory by its design.)
# Exit status 1 if anything is found, 77 if there was nothing to look at.
objdump=$1
nm=$2
kernel_files=,$3,
shift 3
table=$(dirname "$0")/../../kernels/isa.inc
checked=0
status=0
for object in "$@"; do
  name=${object##*/}
  name=${name%.cc.*}
  isa=${name##*_}
  case $kernel_files in *",$name,"*) ;; *) continue ;; esac
  architecture=$(sed -nE "s/^QRT_ISA\(([a-z0-9]+), *[A-Za-z0-9]+, *$isa,.*/\1/p" "$table")
  case $architecture in
    any | wasm) continue ;; # WebAssembly has no registers: engines give them
    x86) multiplies='vpdpbusd|vpdpwssd|tdpbusd|vpmadd' ;;
    arm) multiplies='[su]dot|usdot|[su]mmla|usmmla|smull|smlal|sadalp|mla|fmla' ;;
    '')
      echo "$name: '$isa' is no instruction set of kernels/isa.inc"
      status=1
      continue
      ;;
    *)
      echo "$name: this check does not know the instructions of $architecture"
      status=1
      continue
      ;;
  esac
  checked=$((checked + 1))
  weak=$("$nm" -C "$object" | grep -E ' [WwVvu] ' | grep -vF "qrt::set_$isa::")
  if [ -n "$weak" ]; then
    echo "$name: weak symbols:"
    echo "$weak"
    status=1
  fi
  case $name in
    depthwise_int16_*) continue ;;
    gemm_* | depthwise_* | grouped_* | winograd_* | narrow_* | stem_*) ;;
    *) continue ;;
  esac
  "$objdump" -d --no-show-raw-insn "$object" | awk -v object="$name" -v products="^([{]vex[}] )?($multiplies)" '
    # One function is collected, then its loops are examined.
    function examine(    i, j, k, inner, multiplies, traffic) {
      for (i = 1; i <= count; ++i) {
        if (target[i] == "" || !(target[i] in at) || at[target[i]] > i) continue
        j = at[target[i]]
        inner = 1
        multiplies = traffic = 0
        for (k = j; k <= i; ++k) {
          if (k < i && target[k] != "" && (target[k] in at) && at[target[k]] <= k && at[target[k]] >= j) inner = 0
          if (text[k] ~ products) multiplies = 1
          if (text[k] ~ /%[xyz]mm/ && (text[k] ~ /\(%rsp/ || (framed && text[k] ~ /\(%rbp/))) traffic = k
          if (text[k] ~ /^(ldr|str|ldp|stp|ldur|stur)[ \t]+(q|d([0-7]|1[6-9]|[23][0-9]),)/ && (text[k] ~ /\[sp/ || (framed && text[k] ~ /\[x29/))) traffic = k
        }
        if (inner && multiplies && traffic) {
          printf "%s: %s: vector stack traffic in a loop of %d instructions: %s\n", object, name, i - j + 1, text[traffic]
          found = 1
        }
      }
      count = 0
      framed = 0
      split("", at)
      split("", target)
    }
    /^[0-9a-f]+ <.*>:$/ {
      examine()
      name = $2
      next
    }
    /^ *[0-9a-f]+:\t/ {
      ++count
      address = $1
      sub(/:$/, "", address)
      at[address] = count
      line = $0
      sub(/^ *[0-9a-f]+:\t/, "", line)
      gsub(/\t/, " ", line)
      text[count] = line
      target[count] = ""
      if (line ~ /^(j[a-z]+|b[.a-z]*|cbn?z|tbn?z) /) {
        words = split(line, word, /[ ,]+/)
        for (w = 2; w <= words; ++w) if (word[w] ~ /^[0-9a-f]+$/) target[count] = word[w]
      }
      if (line ~ /^mov +(%rsp,%rbp|x29, sp)/ || line ~ /^add +x29, sp,/) framed = 1
    }
    END {
      examine()
      exit found
    }' || status=1
done
[ $status -eq 0 ] && [ $checked -eq 0 ] && exit 77
[ $status -eq 0 ] && echo "$checked objects are clean"
exit $status
