#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Man pages and completions for bash, zsh and fish, made of what the tools themselves know of their options.

    write_documents.py VERSION DATE FOLDER TABLE...

A table is what a tool prints for --option-table (options.h), in a file that is called like the tool. Writes FOLDER/man1,
FOLDER/bash, FOLDER/zsh and FOLDER/fish.
"""
import os
import re
import sys


class Option:

    def __init__(self, names, value, choices, text):
        self.names = names.split(",")
        self.has_value = value != ""
        self.needs_value = value.startswith(" ")  # "[=FORMAT]" may be left out
        self.value = value.strip(" []=")
        self.left = ", ".join(self.names) + value
        self.choices = choices.split()
        self.text = text


class Tool:

    def __init__(self, path):
        self.name = os.path.basename(path)
        self.usage = self.description = self.status = ""
        self.arguments, self.entries, self.examples, self.commands = [], [], [], []
        with open(path, encoding="utf-8") as file:
            for line in file.read().splitlines():
                kind, *parts = line.split("\t")
                if kind in ("usage", "description", "status"):
                    setattr(self, kind, parts[0])
                elif kind == "argument":
                    self.arguments.append(tuple(parts))
                elif kind == "group":
                    self.entries.append(parts[0])
                elif kind == "option":
                    self.entries.append(Option(*parts))
                elif kind == "example":
                    self.examples.append(parts[0])
                elif kind == "command":
                    self.commands.append(tuple(parts))
                else:
                    sys.exit(f"{path}: no line of an option table: {line}")

    def options(self):
        return [e for e in self.entries if isinstance(e, Option)]


# ---- man pages ----

def troff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text)


def man_page(tool, all_tools, version, date):
    first = tool.description.split(". ")[0].rstrip(".")
    lines = [f'.TH {tool.name.upper()} 1 "{date}" "qrt {version}" "User Commands"',
             ".SH NAME", f"{tool.name} \\- {troff(first[0].lower() + first[1:])}",
             ".SH SYNOPSIS", f".B {troff(tool.name)}", troff(tool.usage.split(" ", 1)[1]),
             ".SH DESCRIPTION", troff(tool.description)]
    for left, text in tool.arguments:
        lines += [".TP", f".I {troff(left)}", troff(text)]
    if tool.commands:
        lines.append(".SH COMMANDS")
    for name, text in tool.commands:
        lines += [".TP", f".B {troff(name)}", troff(text) + "."]
    if tool.entries:
        lines.append(".SH OPTIONS")
    for entry in tool.entries:
        if isinstance(entry, str):
            lines += [f'.SS "{troff(entry)}"']
            continue
        lines += [".TP", f".B {troff(entry.left)}", troff(entry.text)]
    lines.append(".SH EXIT STATUS")
    lines.append(troff(re.sub("^Exit status: ", "", tool.status)))
    lines += [".SH EXAMPLES", ".nf"] + [troff(e) for e in tool.examples] + [".fi"]
    others = [f".BR {troff(t.name)} (1)" for t in all_tools if t.name != tool.name]
    lines += [".SH SEE ALSO"] + [o + "," for o in others[:-1]] + others[-1:]
    return "\n".join(lines) + "\n"


# ---- bash ----

def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def action(option):
    """What may stand for an option's value: words, "file", "folder", or nothing that is known."""
    if option.choices:
        return " ".join(option.choices)
    return {"FILE": "file", "DIR": "folder"}.get(option.value, "")


def bash(tools, main):
    text = "# bash completion of the tools of qrt.\n_qrt_complete() {\n"
    text += """  local tool=${1##*/} cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} options='' value=none
  COMPREPLY=()
  if [ "$tool" = qrt ]; then
    if [ "$COMP_CWORD" = 1 ] || { [ "$COMP_CWORD" = 2 ] && [ "${COMP_WORDS[1]}" = help ]; }; then
      COMPREPLY=($(compgen -W %s -- "$cur"))
      return
    fi
    tool=qrt_${COMP_WORDS[1]#qrt_}
  fi
  if [ "$cur" = = ]; then # --name=VALUE is three words
    cur=''
  elif [ "$prev" = = ]; then
    prev=${COMP_WORDS[COMP_CWORD-2]}
  fi
  case $tool in
""" % quoted(" ".join([name for name, _ in main.commands] + ["help", "--help", "--version"]))
    for tool in tools:
        text += f"    {tool.name}) options={quoted(' '.join(n for o in tool.options() for n in o.names))} ;;\n"
    text += "  esac\n  case $tool/$prev in\n"
    for tool in tools:
        for option in tool.options():
            if option.has_value:
                names = "|".join(f"{tool.name}/{n}" for n in option.names)
                if not option.needs_value:  # its value follows =
                    names = "|".join(f"{tool.name}/{n}" for n in option.names)
                    text += f"    {names}) [ \"${{COMP_WORDS[COMP_CWORD]}}\" = = ] || [ \"${{COMP_WORDS[COMP_CWORD-1]}}\" = = ] && value={quoted(action(option))} ;;\n"
                else:
                    text += f"    {names}) value={quoted(action(option))} ;;\n"
    text += """  esac
  case $value in
    none)
      case $cur in
        -*)
          COMPREPLY=($(compgen -W "$options" -- "$cur"))
          return
          ;;
      esac
      value=file
      ;;
  esac
  case $value in
    '') ;;
    file | folder)
      compopt -o filenames 2>/dev/null
      local IFS=$'\\n'
      if [ "$value" = file ]; then COMPREPLY=($(compgen -f -- "$cur")); else COMPREPLY=($(compgen -d -- "$cur")); fi
      ;;
    *) COMPREPLY=($(compgen -W "$value" -- "$cur")) ;;
  esac
}
"""
    return text + "complete -F _qrt_complete " + " ".join([main.name] + [t.name for t in tools]) + "\n"


# ---- zsh ----

def zsh_text(text):
    return re.sub(r"([\[\]\\:])", r"\\\1", text)


def zsh(tools, main):
    names = " ".join([main.name] + [t.name for t in tools])
    text = f"#compdef {names}\n# zsh completion of the tools of qrt.\n_qrt_arguments() {{\n  case $1 in\n"
    for tool in tools:
        text += f"    {tool.name})\n      _arguments -s -S"
        for option in tool.options():
            value = ""
            if option.has_value:
                how = {"file": "_files", "folder": "_files -/", "": " "}.get(action(option), f"({action(option)})")
                value = ("" if option.needs_value else ":") + f":{zsh_text(option.value)}:{how}"
            for name in option.names:
                mark = ("=-" if not option.needs_value else "=") if name.startswith("--") and option.has_value else ""
                text += " \\\n        " + quoted(f"*{name}{mark}[{zsh_text(option.text)}]{value}")
        text += " \\\n        '*:file:_files'\n      ;;\n"
    text += "  esac\n}\n\nif [[ $service == qrt ]]; then\n  if (( CURRENT == 2 )); then\n    local -a commands=(\n"
    for name, help_text in main.commands + [("help", "The help of a command")]:
        text += f"      {quoted(name + ':' + zsh_text(help_text))}\n"
    text += """    )
    _describe command commands
  else
    shift words
    (( CURRENT-- ))
    _qrt_arguments qrt_${words[1]#qrt_}
  fi
else
  _qrt_arguments $service
fi
"""
    return text


# ---- fish ----

def fish_option(head, option):
    line = head
    for name in option.names:
        line += f" -l {name[2:]}" if name.startswith("--") else f" -s {name[1:]}"
    if option.needs_value:
        how = action(option)
        line += " -r -F" if how == "file" else " -x -a '(__fish_complete_directories)'" if how == "folder" else " -x"
        if option.choices:
            line += f" -a {fish_quoted(' '.join(option.choices))}"
    return line + f" -d {fish_quoted(option.text)}\n"


def fish_quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish(tool):
    return f"# fish completion of {tool.name}.\n" + "".join(
        fish_option(f"complete -c {tool.name}", o) for o in tool.options())


def fish_main(tools, main):
    text = "# fish completion of qrt.\n"
    for name, help_text in main.commands + [("help", "The help of a command")]:
        text += f"complete -c qrt -n __fish_use_subcommand -f -a {name} -d {fish_quoted(help_text)}\n"
    for tool in tools:
        command = tool.name[len("qrt_"):]
        for option in tool.options():
            text += fish_option(f"complete -c qrt -n '__fish_seen_subcommand_from {command}'", option)
    return text


def write(folder, kind, name, text):
    os.makedirs(os.path.join(folder, kind), exist_ok=True)
    with open(os.path.join(folder, kind, name), "w", encoding="utf-8") as file:
        file.write(text)


def main(version, date, folder, *paths):
    tools = [Tool(path) for path in paths]
    main_tool = next(t for t in tools if t.name == "qrt")
    others = [t for t in tools if t.name != "qrt"]
    for tool in tools:
        write(folder, "man1", tool.name + ".1", man_page(tool, tools, version, date))
    write(folder, "bash", "qrt", bash(others, main_tool))
    write(folder, "zsh", "_qrt", zsh(others, main_tool))
    write(folder, "fish", "qrt.fish", fish_main(others, main_tool))
    for tool in others:
        # bash looks for a file of the command's name.
        write(folder, "bash", tool.name, '. "${BASH_SOURCE%/*}/qrt"\n')
        write(folder, "fish", tool.name + ".fish", fish(tool))


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
