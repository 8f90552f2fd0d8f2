/** The file system with every change counted, of which a chosen one fails. Reading never does. */
import { systemFileOperations } from '../../src/adapters/files/file-operations.ts';
import type { FileOperations } from '../../src/adapters/files/file-operations.ts';

export class FailingOperations {
  /** What was done, in order: the operation and the last part of its path. */
  readonly done: string[] = [];
  /** Asked before every change; what it gives back is thrown as a system error with that code. */
  failWith: (operation: string, number: number) => string | undefined = () => undefined;

  readonly operations: FileOperations = {
    makeDirectory: (path) => this.#do('makeDirectory', path, () => systemFileOperations.makeDirectory(path)),
    makeDirectories: (path) => this.#do('makeDirectories', path, () => systemFileOperations.makeDirectories(path)),
    createFile: (path, content) => this.#do('createFile', path, () => systemFileOperations.createFile(path, content)),
    overwriteFile: (path, content) =>
      this.#do('overwriteFile', path, () => systemFileOperations.overwriteFile(path, content)),
    syncFile: (path) => this.#do('syncFile', path, () => systemFileOperations.syncFile(path)),
    syncDirectory: (path) => this.#do('syncDirectory', path, () => systemFileOperations.syncDirectory(path)),
    rename: (from, to) => this.#do('rename', to, () => systemFileOperations.rename(from, to)),
    removeFile: (path) => this.#do('removeFile', path, () => systemFileOperations.removeFile(path)),
    linkFile: (from, to) => this.#do('linkFile', to, () => systemFileOperations.linkFile(from, to)),
    removeTree: (path) => this.#do('removeTree', path, () => systemFileOperations.removeTree(path)),
    openLog: async (path) => {
      const file = await systemFileOperations.openLog(path);
      return {
        ...file,
        append: (bytes) => this.#do('append', path, () => file.append(bytes)),
        sync: () => this.#do('sync', path, () => file.sync()),
      };
    },
    openWritable: async (path) => {
      const file = await systemFileOperations.openWritable(path);
      return {
        ...file,
        write: (bytes, position) => this.#do('write', path, () => file.write(bytes, position)),
        sync: () => this.#do('sync', path, () => file.sync()),
      };
    },
  };

  async #do<Value>(operation: string, path: string, work: () => Promise<Value>): Promise<Value> {
    const what = `${operation} ${path.slice(path.lastIndexOf('/') + 1)}`;
    const code = this.failWith(what, this.done.length);
    this.done.push(what);
    if (code !== undefined) throw Object.assign(new Error(`${code}: ${what} fails`), { code });
    return work();
  }
}
