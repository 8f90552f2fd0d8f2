/** The program of one run, in a folder that can be entered. */
import { stat } from 'node:fs/promises';
import { messageOf } from '../../machines/errors.ts';
import { startProgram } from '../system/tracked-program.ts';
import type { StartProgram, TrackedProgram } from '../system/tracked-program.ts';
import { SettingsRefused } from './dialect.ts';

/** @throws SettingsRefused when the working folder cannot be entered; or as `startProgram` */
export async function startRun(options: StartProgram): Promise<TrackedProgram> {
  const { cwd } = options.command;
  const folder = await stat(cwd).catch((error: unknown) => {
    throw new SettingsRefused(`the working folder ${cwd} cannot be entered: ${messageOf(error)}`, { cause: error });
  });
  if (!folder.isDirectory()) throw new SettingsRefused(`the working folder ${cwd} is no folder`);
  return startProgram(options);
}
