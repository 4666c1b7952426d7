/**
 * What an executable starts with: gets the program and its compiled code out of the executable
 * and runs it. Node has a code cache for such programs too; it holds the outermost function
 * only, and differs from build to build (see code-cache.ts).
 */
import { getRawAsset } from 'node:sea';
import { FILE_NAME, type Program, programScript } from './program.ts';

// Left behind in a shell, it would end the checking of every server's certificate.
delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;

const program: Program = programScript(
  Buffer.from(getRawAsset('program')).toString('latin1'),
  Buffer.from(getRawAsset('code-cache')),
).runInThisContext();

const main = { exports: {} };
program(main.exports, require, main, FILE_NAME, '/');
