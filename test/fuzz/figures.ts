/**
 * `node test/fuzz/figures.ts [SEED] [FILE...]`: what part of the secrets of a set of combinations the redaction removes,
 * how many ordinary lines it changes, and its processor time beside that of `gzip -6`. `FILE`: more ordinary text.
 * SHOW=PART prints those that are left whose recipe has PART (empty: all), SHOW_LINES=1 the ordinary lines that changed.
 */
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { logLines } from '../../bench/gather/lines.ts';
import { createRedactor, type Redactor } from '../../lib/secrets/redact/redactor.ts';
import { type Combination, combinations, learned } from '../unit/secrets/combinations.ts';
import { SeededRandom } from '../unit/secrets/random.ts';
import { redacted } from '../unit/secrets/streams.ts';

const KEY = Buffer.alloc(32, 1);
const SHOWN = 20;
const print = (line: string) => process.stdout.write(`${line}\n`);
const percent = (part: number, of: number) => `${((100 * part) / of).toFixed(2)} % of ${of}`;

/** Those whose text still has anything of the secret. */
async function alive(redactor: Redactor, all: readonly Combination[]): Promise<Combination[]> {
  const left: Combination[] = [];
  for (const each of all) {
    const output = await redacted(redactor.text, Buffer.from(each.text));
    const text = output.toString('latin1');
    const isGone = !text.includes(each.secret) && text.includes('<redacted');
    const isWhole = /^[\w-]+$/.test(each.secret);
    // Of one that was cut, a part would be left.
    const rest = isWhole ? each.secret.slice(0, 6) : each.secret.slice(-5);
    if (!isGone || text.includes(rest)) left.push(each);
  }
  return left;
}

function byPart(left: readonly Combination[], at: number): string {
  const parts = Map.groupBy(left, ({ recipe }) => recipe.split(' | ')[at]);
  return [...parts]
    .sort((a, b) => b[1].length - a[1].length)
    .slice(0, SHOWN)
    .map(([part, of]) => `${part} ${of.length}`)
    .join(', ');
}

async function main(): Promise<void> {
  const [seed = '1', ...files] = process.argv.slice(2);
  const random = new SeededRandom(Number(seed));
  const own = [...learned(random, 60)];
  const knowing = createRedactor(KEY, new Set(own.map(({ secret }) => secret)));
  const ownLeft = await alive(knowing, own);
  print(`learned: ${percent(own.length - ownLeft.length, own.length)} gone`);
  print(`  ${byPart(ownLeft, 0)}`);

  const others = [...combinations(random)];
  const redactor = createRedactor(KEY, []);
  const left = await alive(redactor, others);
  print(`not learned: ${percent(others.length - left.length, others.length)} gone`);
  for (const at of [0, 1, 2, 3]) print(`  ${byPart(left, at)}`);
  if (process.env.SHOW !== undefined) {
    for (const { text, recipe } of left
      .filter((one) => one.recipe.includes(process.env.SHOW ?? ''))
      .slice(0, 60)) {
      print(
        `    ${recipe}: ${JSON.stringify(text)} => ${(await redacted(redactor.text, Buffer.from(text))).toString()}`,
      );
    }
  }

  const logs: string[] = [];
  for (const { unit, text } of logLines(1)) {
    if (logs.push(`2026-03-12T10:00:00 sno-0 ${unit}: ${text}`) >= 40_000) break;
  }
  const texts = [`${logs.join('\n')}\n`, ...files.map((file) => readFileSync(file, 'latin1'))];
  for (const [index, text] of texts.entries()) {
    const bytes = Buffer.from(text, 'latin1');
    const output = (await redacted(redactor.text, bytes)).toString('latin1').split('\n');
    const lines = text.split('\n');
    const kept = new Set(output);
    const changed = lines.filter((line) => !kept.has(line));
    print(
      `ordinary lines: ${percent(changed.length, lines.length)} changed (${files[index - 1] ?? 'logs'})`,
    );
    if (process.env.SHOW_LINES !== undefined)
      for (const line of changed.slice(0, 400)) print(`    ${line.slice(0, 300)}`);
  }

  const bytes = Buffer.from(texts[0] ?? '', 'latin1');
  const times = { redaction: Number.POSITIVE_INFINITY, gzip: Number.POSITIVE_INFINITY };
  const timed = async (work: () => unknown) => {
    const before = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(before);
    return ((user + system) * 1000) / bytes.length;
  };
  for (let run = 0; run < 4; run++) {
    times.redaction = Math.min(times.redaction, await timed(() => redacted(knowing.text, bytes)));
    times.gzip = Math.min(times.gzip, await timed(() => gzipSync(bytes, { level: 6 })));
  }
  print(
    `processor time: ${(times.redaction / times.gzip).toFixed(2)} of gzip -6 (${times.redaction.toFixed(1)} ns for each byte)`,
  );
}

await main();
