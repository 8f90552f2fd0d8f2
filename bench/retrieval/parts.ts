/** Retrieval over an index in files, from dist/: the package makes them for a home only, and benches bring a history. */
import type { Retrieval } from '../../dist/actors/retrieval/retrieval.js';
import type { RetrievalSources } from '../../dist/actors/retrieval/retrieval-sources.js';
import type { FileRetrievalIndex } from '../../dist/adapters/retrieval-files/file-retrieval-index.js';
import { createSystemClock } from 'wakechart/node';

export type { RetrievalSources };

export interface OpenRetrieval {
  readonly index: FileRetrievalIndex;
  readonly retrieval: Retrieval;
}

const dist = new URL('../../../dist/', import.meta.url);
const part = async <Module>(path: string): Promise<Module> => (await import(new URL(path, dist).href)) as Module;

/** With the time of now, where `nowMs` says no other. */
export async function openRetrieval(
  folder: string,
  { sources, nowMs }: { readonly sources: RetrievalSources; readonly nowMs?: number },
): Promise<OpenRetrieval> {
  const { Retrieval: RetrievalOf } = await part<typeof import('../../dist/actors/retrieval/retrieval.js')>(
    'actors/retrieval/retrieval.js',
  );
  const { FileRetrievalIndex: IndexOf } = await part<
    typeof import('../../dist/adapters/retrieval-files/file-retrieval-index.js')
  >('adapters/retrieval-files/file-retrieval-index.js');
  const onTrouble = (error: unknown): void => {
    throw error;
  };
  const index = new IndexOf({ folderOf: () => folder, onTrouble });
  const system = createSystemClock();
  const clock = nowMs === undefined ? system : { ...system, now: () => nowMs };
  return { index, retrieval: new RetrievalOf({ index, sources, clock, onTrouble }) };
}
