/**
 * Import this before tap. To find the test that an uncaught error belongs to, tap (async-hook-domain)
 * follows each promise and handle by an async hook, which took up to a sixth of the processor time
 * of tests with many promises. Tests that share a process run one after another: the running test is
 * known without it.
 */
import asyncHooks from 'node:async_hooks';
import { syncBuiltinESMExports } from 'node:module';

const hook: asyncHooks.AsyncHook = { enable: () => hook, disable: () => hook };
Object.assign(asyncHooks, { createHook: () => hook });
syncBuiltinESMExports();
