/**
 * `npm run test:fuzz [SECONDS] [SEED]`: looks for text that costs the redaction much more than
 * ordinary text, ends it with an error, or hides a secret that follows. Each text is made of
 * what the rules look for, repeated, nested and encoded at random. The seed is printed; a
 * failing text is described by what it was made of. The last line is
 * `N passed, N failed, N skipped`.
 */
import { randomInt } from 'node:crypto';
import { describeError } from '../../lib/base/errors/failure.ts';
import { createRedactor } from '../../lib/secrets/redact/redactor.ts';
import { SeededRandom } from '../unit/secrets/random.ts';
import { redacted } from '../unit/secrets/streams.ts';
import { hostileText, type Made } from './hostile-text.ts';
import { ordinaryText } from './ordinary-text.ts';

const SECONDS = 60;
const SHORT = 100_000;
/**
 * Of processor time for each byte, compared with ordinary text. A secret in every
 * ten bytes costs 40 times as much; what costs the square of its length is far beyond.
 */
const MAX_RATIO = 100;
const SECRET = 'q9~W7x8z2k+L';
const END = `\npassword=${SECRET}\n${'words '.repeat(3000)}\nlast\n`;

const redactor = createRedactor(Buffer.alloc(32, 1), [SECRET]);
const print = (line: string) => process.stdout.write(`${line}\n`);

/** Nanoseconds of processor time for each byte. A short text may have an effort that is not its length's. */
async function costOf(bytes: Buffer): Promise<number> {
  const before = process.cpuUsage();
  await redacted(redactor.text, bytes);
  const { user, system } = process.cpuUsage(before);
  return ((user + system) * 1000) / Math.max(bytes.length, SHORT);
}

/** The lowest of some runs: others are disturbed by what else the machine and V8 do. */
async function lowestCost(bytes: Buffer, runs: number): Promise<number> {
  let lowest = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs; run++) lowest = Math.min(lowest, await costOf(bytes));
  return lowest;
}

/** What is wrong with the result, if anything is. */
async function faultOf({ text }: Made, ordinary: number): Promise<string | undefined> {
  const input = Buffer.from(`first\n${text}${END}`, 'latin1');
  try {
    const output = await redacted(redactor.text, input);
    if (output.includes(SECRET)) return 'the secret after it is there';
    const isWhole = output.subarray(-6).toString() === '\nlast\n';
    if (!isWhole) return 'the end is missing';
    if ((await costOf(input)) < MAX_RATIO * ordinary) return undefined;
    const ratio = (await lowestCost(input, 4)) / ordinary;
    return ratio < MAX_RATIO ? undefined : `${ratio.toFixed(0)} times the cost of ordinary text`;
  } catch (error) {
    return describeError(error);
  }
}

async function main(): Promise<void> {
  const [seconds = SECONDS, seed = randomInt(2 ** 31)] = process.argv.slice(2).map(Number);
  print(`seed ${seed}, ${seconds} s`);
  const ordinary = await lowestCost(ordinaryText(), 6);
  print(`ordinary text: ${ordinary.toFixed(1)} ns for each byte`);
  const random = new SeededRandom(seed);
  const end = performance.now() + seconds * 1000;
  let [passed, failed] = [0, 0];
  while (performance.now() < end) {
    const made = hostileText(random);
    const fault = await faultOf(made, ordinary);
    if (fault === undefined) passed += 1;
    else {
      failed += 1;
      print(`  FAIL  ${made.text.length} bytes of ${made.recipe}: ${fault}`);
    }
  }
  print(`${passed} passed, ${failed} failed, 0 skipped`);
  process.exitCode = failed === 0 ? 0 : 1;
}

await main();
