#!/usr/bin/env node
/** The program `wakechart`. */
import { runCommandLine } from './command-line.ts';

process.exit(await runCommandLine(process.argv.slice(2)));
