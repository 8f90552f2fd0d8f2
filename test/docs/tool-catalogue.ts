/** The catalogue of managed tools as Markdown, written from the tools of a real runtime. */
import type { CatalogueEntry } from '../../src/machines/turn/tool-catalogue.ts';
import { managedToolCatalogue, shapeText } from '../../src/machines/turn/tool-catalogue.ts';
import { TOOL_FAMILIES } from '../../src/machines/turn/tool-family.ts';
import { createNodeRuntime } from '../../src/node.ts';
import { temporaryHome } from '../support/temporary-home.ts';

const HEAD = `# Managed tools

Every tool that comes with Wakechart, written from the tools of a runtime. An agent file names tools, or families of them, under [\`tools\`](tools.md); \`wakechart tools --agent NAME\` says which
ones an agent gets. *Effects* is what a call can do at most. Whether it may is decided where it takes effect, by the [permissions](permissions.md) of the agent: *always asks* needs somebody's
consent whatever the mode. *Stop* is what an interrupt does to a call that runs: \`cancel\` ends it at once, \`finish\` lets it come to its end. A call of an *idempotent* tool that a crash cut off is
run again; any other is \`unknown\`.
`;

export async function toolCatalogue(): Promise<string> {
  const home = await temporaryHome();
  try {
    const runtime = await createNodeRuntime({ home: home.path, reconcileOnStart: false });
    try {
      return toolPage(managedToolCatalogue(runtime.tools.map(({ definition }) => definition)));
    } finally {
      await runtime.shutdown();
    }
  } finally {
    await home.remove();
  }
}

function toolPage(entries: readonly CatalogueEntry[]): string {
  const families = [...TOOL_FAMILIES, undefined].map((family) => ({
    family,
    tools: entries.filter((entry) => entry.family === family),
  }));
  const sections = families
    .filter(({ tools }) => tools.length > 0)
    .map(({ family, tools }) => sectionOf(family ?? 'others', tools));
  return `${HEAD}${sections.join('')}`;
}

function sectionOf(family: string, tools: readonly CatalogueEntry[]): string {
  const rows = tools.map((tool) => {
    const { name, description, input, output, effects, permissionPolicy, interruptBehavior } = tool;
    const words = [
      tool.readOnly ? 'reads only' : '',
      tool.destructive ? 'destructive' : '',
      tool.idempotent ? 'idempotent' : '',
      permissionPolicy === 'always_ask' ? 'always asks' : '',
    ].filter((word) => word !== '');
    const cells = [
      code(name),
      description,
      shapeText(input, code),
      output === undefined ? '' : shapeText(output, code),
      effects.map(code).join(' '),
      words.join(', '),
      code(interruptBehavior),
    ];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |\n`;
  });
  return `\n## ${family}\n\n| tool | does | input | output | effects | | stop |\n|---|---|---|---|---|---|---|\n${rows.join('')}`;
}

function code(text: string): string {
  return `\`${text}\``;
}
