/**
 * Entry point of an executable: loads the program and its compiled code from the executable and
 * runs it. Node's own code cache for such programs contains only the outermost function and
 * differs from build to build (see code-cache.ts).
 */
import { getRawAsset } from 'node:sea';
import { FILE_NAME, type Program, programScript } from './program.ts';

// If left set in a shell, it would disable the verification of every server certificate.
delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;

const program: Program = programScript(
  Buffer.from(getRawAsset('program')).toString('latin1'),
  Buffer.from(getRawAsset('code-cache')),
).runInThisContext();

const main = { exports: {} };
program(main.exports, require, main, FILE_NAME, '/');
