import { program } from '../sno.ts';
import { type CommandNode, commandTree } from './command-tree.ts';

/** All commands of `sno`, for what is generated from them. */
export const snoTree = (): CommandNode =>
  commandTree(
    program({
      environment: {},
      print: () => undefined,
      complain: () => undefined,
      signal: new AbortController().signal,
    }),
  );
