/** `cinnabar completion`: the script with which a shell completes subcommands, flags and their values. */
import { UsageError } from "../options.ts";
import type { Command } from "./command.ts";
import { type Flag, withHelp } from "./flags.ts";
import { didYouMean } from "./nearest.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];

export function completionCommand(commands: () => readonly Command[]): Command {
  return {
    name: "completion",
    summary: "prints the script that lets bash, zsh or fish complete this command",
    usage: "bash|zsh|fish",
    flags: [],
    words: SHELLS,
    details: `Where it goes:
  bash   cinnabar completion bash > ~/.local/share/bash-completion/completions/cinnabar
  zsh    cinnabar completion zsh > "\${fpath[1]}/_cinnabar"
  fish   cinnabar completion fish > ~/.config/fish/completions/cinnabar.fish`,
    examples: ["source <(cinnabar completion bash)"],
    async run({ positionals }, { stdout }) {
      const [given, ...more] = positionals;
      if (given === undefined || more.length > 0) throw new UsageError("name one shell: bash, zsh or fish");
      const shell = SHELLS.find((each) => each === given);
      if (shell === undefined) {
        throw new UsageError(`there is no completion for '${given}'${didYouMean(given, SHELLS)} (bash, zsh, fish)`);
      }
      stdout.write(MAKERS[shell](commands()));
      return 0;
    },
  };
}

const names = (flag: Flag): string[] => [`--${flag.name}`, ...(flag.short === undefined ? [] : [`-${flag.short}`])];
const all = (command: Command): readonly Flag[] => withHelp(command.flags);

function bash(commands: readonly Command[]): string {
  const cases = commands.map((command) => {
    const flags = all(command).flatMap(names).join(" ");
    return `    ${command.name}) flags="${flags}" words="${(command.words ?? []).join(" ")}" ;;`;
  });
  const commandNames = commands.map(({ name }) => name).join(" ");
  const startFlags = all(commands.find(({ name }) => name === "start")!)
    .flatMap(names)
    .join(" ");
  const values = commands.flatMap((command) =>
    command.flags.flatMap((flag) => {
      const reply = flag.choices ? `COMPREPLY=($(compgen -W "${flag.choices.join(" ")}" -- "$cur"))` : valuesIn(flag);
      const patterns = names(flag).map((name) => `${command.name}:${name}`);
      return reply === null ? [] : [`    ${patterns.join("|")}) ${reply}; return ;;`];
    }),
  );
  return `# bash completion of cinnabar
_cinnabar() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" command="\${COMP_WORDS[1]}" flags words
  COMPREPLY=()
  # A shell cuts --flag=value into three words.
  if [ "$cur" = "=" ]; then cur=""; elif [ "$prev" = "=" ]; then prev="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  # Without a command it is start.
  case "$command" in -*) if [ "$COMP_CWORD" -gt 1 ]; then command=start; fi ;; esac
  if [ "$COMP_CWORD" -eq 1 ]; then
    case "$cur" in
      -*) COMPREPLY=($(compgen -W "${startFlags} --version" -- "$cur")) ;;
      *) COMPREPLY=($(compgen -W "${commandNames} help" -- "$cur")) ;;
    esac
    return
  fi
  case "$command:$prev" in
${values.join("\n")}
  esac
  case "$command" in
${cases.join("\n")}
    help) words="${commandNames}" ;;
  esac
  case "$cur" in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$cur")) ;;
    *) COMPREPLY=($(compgen -W "$words" -- "$cur")); [ "$command" = help ] || COMPREPLY+=($(compgen -f -- "$cur")) ;;
  esac
}
complete -F _cinnabar cinnabar
`;
}

const valuesIn = (flag: Flag): string | null =>
  flag.value === undefined ? null : flag.isPath === true ? `COMPREPLY=($(compgen -f -- "$cur"))` : "COMPREPLY=()";

const quoted = (text: string): string => text.replaceAll("'", "'\\''");

function zsh(commands: readonly Command[]): string {
  const bracketed = (text: string): string => quoted(text.replace(/[[\]:]/g, (sign) => `\\${sign}`));
  const spec = (flag: Flag): string[] =>
    names(flag).map((name) => {
      const action = flag.choices ? `(${flag.choices.join(" ")})` : flag.isPath === true ? "_files" : " ";
      return `'${name}[${bracketed(flag.summary)}]${flag.value === undefined ? "" : `:${bracketed(flag.value)}:${action}`}'`;
    });
  const cases = commands.map((command) => {
    const words = command.words ? `'*:word:(${command.words.join(" ")})'` : "'*:file:_files'";
    return `    ${command.name}) _arguments ${all(command).flatMap(spec).join(" ")} ${words} ;;`;
  });
  const described = commands.map(({ name, summary }) => `'${name}:${bracketed(summary)}'`);
  return `#compdef cinnabar
_cinnabar() {
  local -a commands
  commands=(${described.join(" ")})
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
${cases.join("\n")}
  esac
}
if [ "$funcstack[1]" = "_cinnabar" ]; then _cinnabar "$@"; else compdef _cinnabar cinnabar; fi
`;
}

function fish(commands: readonly Command[]): string {
  const first = commands.map(
    ({ name, summary }) => `complete -c cinnabar -n __fish_use_subcommand -f -a ${name} -d '${quoted(summary)}'`,
  );
  const rest = commands.flatMap((command) => {
    const on = `complete -c cinnabar -n '__fish_seen_subcommand_from ${command.name}'`;
    const flags = all(command).map((flag) => {
      const short = flag.short === undefined ? "" : flag.short.length === 1 ? ` -s ${flag.short}` : "";
      const values = flag.choices ? ` -a '${flag.choices.join(" ")}'` : "";
      const value = flag.value === undefined ? "" : flag.isPath === true ? " -r -F" : ` -x${values}`;
      return `${on} -l ${flag.name}${short}${value} -d '${quoted(flag.summary)}'`;
    });
    return command.words ? [...flags, `${on} -f -a '${command.words.join(" ")}'`] : flags;
  });
  return `# fish completion of cinnabar\n${[...first, ...rest].join("\n")}\n`;
}

const MAKERS: Readonly<Record<Shell, (commands: readonly Command[]) => string>> = { bash, zsh, fish };
