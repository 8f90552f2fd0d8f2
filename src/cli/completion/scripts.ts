/**
 * What a shell runs to complete our commands. It knows none of them: it asks the program for what its words can go on
 * with, so that it never says anything else than the version that is called.
 */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;

export type Shell = (typeof SHELLS)[number];

/** A line that says that files, or folders, are meant; no word of ours begins so. */
export const FILES_MARK = ':files';
export const FOLDERS_MARK = ':folders';

const BASH = `# bash completion of wakechart: in the settings, or eval "$(wakechart completion bash)"
# An alias of yours is completed too, once it is named: complete -F _wakechart wc
_wakechart() {
  local program="\${BASH_ALIASES[\${COMP_WORDS[0]}]-}" typed="\${COMP_WORDS[COMP_CWORD]#=}" line word
  local -a words=()
  [ -n "$program" ] || printf -v program %q "\${COMP_WORDS[0]}"
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do [ "$word" = = ] || words+=("$word"); done
  COMPREPLY=()
  while IFS= read -r line; do
    case "$line" in
      ${FILES_MARK}) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$typed") ;;
      ${FOLDERS_MARK}) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$typed") ;;
      ?*) COMPREPLY+=("\${line%%$'\\t'*}") ;;
    esac
  done < <(eval "$program" 'completion words -- "\${words[@]}" "$typed"' 2>/dev/null)
}
complete -F _wakechart wakechart
`;

const ZSH = `#compdef wakechart
# zsh completion of wakechart: in the settings after compinit, or as a file _wakechart in $fpath
_wakechart() {
  local line
  local -a found
  [[ $PREFIX == --*=* ]] && compset -P '*='
  while IFS= read -r line; do
    case "$line" in
      ${FILES_MARK}) _files ;;
      ${FOLDERS_MARK}) _files -/ ;;
      ?*) found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}") ;;
    esac
  done < <("$words[1]" completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  (( $#found )) && _describe wakechart found
}
if [ "$funcstack[1]" = _wakechart ]; then _wakechart "$@"; else compdef _wakechart wakechart; fi
`;

const FISH = `# fish completion of wakechart: wakechart completion fish | source
function __wakechart_words
  set -l words (commandline -opc)
  set -l typed (commandline -ct)
  set -l option (string match -r '^--[^=]+=|^' -- "$typed")
  type -q $words[1]; or return
  for line in ($words[1] completion words -- $words[2..-1] "$typed" 2>/dev/null)
    switch $line
      case '${FILES_MARK}'
        __fish_complete_path (string replace -- "$option" '' "$typed") | string replace -r '^' -- "$option"
      case '${FOLDERS_MARK}'
        __fish_complete_directories (string replace -- "$option" '' "$typed") | string replace -r '^' -- "$option"
      case '*'
        echo "$option$line"
    end
  end
end
complete -c wakechart -f -a '(__wakechart_words)'
`;

export const COMPLETION_SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
