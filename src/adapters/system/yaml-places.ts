/** Where things stand in a YAML text, for complaints that name a line. */
import { isCollection, isMap, isNode } from 'yaml';
import type { Document, Node } from 'yaml';

/** The key or the entry at `path`; for one that is missing, what is around it. A value may begin below its key. */
export function yamlNodeAt(document: Document, path: readonly PropertyKey[]): Node | undefined {
  for (let length = path.length; length > 0; length -= 1) {
    const around: unknown = length === 1 ? document.contents : document.getIn(path.slice(0, length - 1), true);
    const name = path[length - 1];
    const key = isMap(around)
      ? around.items.find((pair) => isNode(pair.key) && pair.key.toJSON() === name)?.key
      : undefined;
    const node: unknown = key ?? (isCollection(around) ? around.get(name, true) : undefined);
    if (isNode(node)) return node;
  }
  return undefined;
}

export function yamlOffsetOf(document: Document, path: readonly PropertyKey[]): number {
  return yamlNodeAt(document, path)?.range?.[0] ?? 0;
}
