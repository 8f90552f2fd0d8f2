/** The port to a shell parser. */
import type { ShellReading } from '../../machines/permission/shell-reading.ts';

/** Reads a command line as `/bin/sh` would. Never throws: what it cannot be sure of is not understood. */
export type ReadShell = (command: string) => ShellReading;
