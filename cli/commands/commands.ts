import type { Command } from 'commander';
import type { Surroundings } from '../surroundings.ts';
import { addAnalyze } from './analyze.ts';
import { addCreate } from './create.ts';
import { addExplain } from './explain.ts';
import { addFleet } from './fleet.ts';
import { addLicenses } from './licenses.ts';
import { addVerify } from './verify.ts';
import { addVersion } from './version.ts';
import { addWaitFor } from './wait-for.ts';

/** Adds a command with its options and subcommands to `sno`. */
export type AddCommand = (sno: Command, surroundings: Surroundings) => void;

/**
 * Every command of `sno`, in the order of the help text. A new command is a file
 * here and a line.
 */
export const commands: readonly AddCommand[] = [
  addCreate,
  addVerify,
  addWaitFor,
  addFleet,
  addAnalyze,
  addExplain,
  addLicenses,
  addVersion,
];
