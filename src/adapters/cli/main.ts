#!/usr/bin/env node
/** The program `wakechart`. */
import process from 'node:process';
import { runCommandLine } from './command-line.ts';

process.exit(await runCommandLine(process.argv.slice(2)));
