/**
 * The reference of all commands as Markdown, written from their definitions so that the page cannot say anything else.
 */
import type { Command, Option } from 'commander';
import { examplesOf } from './command-words.ts';

const BEGIN = '<!-- reference: written from the definitions of the commands -->';
const END = '<!-- end of the reference -->';

/**
 * The page with its reference brought up to date. What stands around the reference is left alone. @throws Error when it
 * has no place for one
 */
export function withReference(page: string, program: Command): string {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`expected the lines ${BEGIN} and ${END} in the page`);
  return `${page.slice(0, begin)}${BEGIN}\n\n${commandReference(program)}\n${page.slice(end)}`;
}

function commandReference(program: Command): string {
  const sections = leavesOf(program).map((command) => sectionOf(command));
  return [`### Options of every command\n\n${optionTable(program.options)}`, ...sections].join('\n');
}

/** Commands that do something, in the order in which they are defined. */
function leavesOf(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
}

function sectionOf(command: Command): string {
  const words = wordsOf(command);
  const takes = command.registeredArguments.map((argument) => ({
    name: argument.name(),
    shown: argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
    text: argument.description,
  }));
  const usage = [words, ...takes.map(({ shown }) => shown), ...(command.options.length > 0 ? ['[options]'] : [])].join(
    ' ',
  );
  return [
    `### \`${words}\`\n`,
    `${sentence(command.description())}\n`,
    `    ${usage}\n`,
    ...(takes.length === 0
      ? []
      : [
          `| argument | |\n|---|---|\n${takes.map(({ name, text }) => `| \`${name}\` | ${cell(text)} |`).join('\n')}\n`,
        ]),
    ...(command.options.length === 0 ? [] : [optionTable(command.options)]),
    `\`\`\`sh\n${examplesOf(command).join('\n')}\n\`\`\`\n`,
  ].join('\n');
}

function optionTable(options: readonly Option[]): string {
  const rows = options.map(
    (option) =>
      `| \`${option.flags}\` | ${cell(option.description)}${option.mandatory ? ' (needed)' : ''}${defaultText(option)} |`,
  );
  return `| option | |\n|---|---|\n${rows.join('\n')}\n`;
}

function defaultText({ defaultValue }: Option): string {
  return defaultValue === undefined ? '' : ` (default: ${JSON.stringify(defaultValue)})`;
}

function wordsOf(command: Command): string {
  return command.parent === null ? command.name() : `${wordsOf(command.parent)} ${command.name()}`;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function cell(text: string): string {
  return text.replaceAll('|', String.raw`\|`);
}
