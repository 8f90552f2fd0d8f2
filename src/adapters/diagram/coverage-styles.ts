/** The style sheet of pages that show what was taken of a chart, around the picture with its own. */
import { FONT, plainColor } from './theme.ts';
import type { Color, Theme } from './theme.ts';

const USED: readonly Color[] = [
  'page',
  'rim',
  'text',
  'quiet',
  'outer',
  'added',
  'removed',
  'addedfill',
  'removedfill',
];

export function coverageStyles(theme: Theme): string {
  const variables = (of: Theme): string => USED.map((color) => `--${color}:${plainColor(color, of)}`).join(';');
  return [
    `:root{color-scheme:${theme === 'auto' ? 'light dark' : theme};${variables(theme === 'dark' ? 'dark' : 'light')}}`,
    ...(theme === 'auto' ? [`@media (prefers-color-scheme:dark){:root{${variables('dark')}}}`] : []),
    `body{margin:0;background:var(--page);color:var(--text);font:15px/1.5 ${FONT}}`,
    'main{max-width:70rem;margin:0 auto;padding:1.5rem 1rem 4rem}',
    'h1{font-size:1.5rem;margin:0 0 1rem;overflow-wrap:anywhere}h2{font-size:1.15rem;margin:2rem 0 .75rem}',
    'h3{font-size:1rem;margin:0}p{margin:.25rem 0}code{font:.9em ui-monospace,monospace;overflow-wrap:anywhere}',
    '.quiet,.legend,dt{color:var(--quiet)}',
    '.shares{display:grid;grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));gap:.75rem;margin:0 0 1rem}',
    '.shares div{background:var(--outer);border-radius:8px;padding:.6rem .9rem}.shares dd{margin:0}',
    '.shares meter{width:100%;height:.6rem}',
    '.taken,.missed{border-radius:4px;padding:.1rem .4rem;margin-right:.5rem}',
    '.taken{color:var(--added);background:var(--addedfill)}.missed{color:var(--removed);background:var(--removedfill)}',
    '.picture{overflow:auto;border:1px solid var(--rim);border-radius:8px;margin:.75rem 0}',
    '.picture svg{display:block;margin:0 auto}',
    '.missing{list-style:none;padding:0;display:grid;gap:1rem;margin:0}',
    '.missing>li{border-left:3px solid var(--removed);padding:.1rem 0 .1rem .9rem;min-width:0}',
    'ol{margin:.35rem 0;padding-left:1.6rem}',
    'table{border-collapse:collapse}th,td{text-align:left;padding:.25rem 1.2rem .25rem 0;border-bottom:1px solid var(--rim)}',
    'th{font-weight:400}td{text-align:right;font-variant-numeric:tabular-nums}',
  ].join('\n');
}
