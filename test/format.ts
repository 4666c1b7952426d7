/** `npm run format`: formats every source file and applies safe fixes. */
import { join } from 'node:path';
import { execa } from 'execa';

const root = join(import.meta.dirname, '..');
const { exitCode } = await execa(
  join(root, 'node_modules/@biomejs/cli-linux-x64/biome'),
  ['check', '--write', '--error-on-warnings'],
  { cwd: root, stdio: 'inherit', reject: false, timeout: 120_000 },
);
process.exitCode = exitCode ?? 1;
