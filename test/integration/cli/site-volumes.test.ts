/** `sno create site-volumes`: killed, resumed, with rows that fail, on a full disk, and in parallel. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import t from 'tap';
import { facts } from '../../unit/relocation/site-volume/volumes.ts';
import {
  digestOf,
  filesIn,
  instead,
  manifest,
  node,
  PATH,
  resultsIn,
  run,
  SITES,
  setUp,
  sitesIn,
  stoppedAfter,
  TEMPLATE,
  tableOf,
} from './site-volumes-world.ts';

const skip =
  (await execa('xorriso', ['-version'], { reject: false })).failed && 'xorriso is not installed';

t.test('a killed run goes on, and changes nothing that is done', { skip }, async (t) => {
  const world = await setUp(t);
  const { root, output, args, key } = world;
  t.match(await stoppedAfter(world, 3, 'SIGKILL'), { code: null });
  const before = resultsIn(output);
  t.same(
    before.map(({ site, state }) => `${site} ${state}`),
    ['a done', 'b done', 'c done'],
  );
  t.match(
    readdirSync(output).filter((name) => name.startsWith('.')),
    [/^\.d\./],
    'it was making the next one',
  );
  const done = Object.fromEntries(
    ['a', 'b', 'c'].map((site) => [site, filesIn(join(output, site))]),
  );
  // As a power cut leaves it; the folder of c had appeared, and its line had not.
  const lines = readFileSync(join(output, 'results.jsonl'), 'utf8').split('\n');
  writeFileSync(
    join(output, 'results.jsonl'),
    `${lines[0]}\n${lines[1]}\n${lines[2]?.slice(0, 30)}`,
  );

  const again = await run(args);
  t.equal(again.code, 2);
  t.match(again.err, /There is already .*volumes.*--resume/);
  const resumed = await run([...args, '--resume']);
  t.equal(resumed.code, 0, resumed.err);
  t.match(resumed.out, /7 volumes, each with its auth; 3 of them were there/);
  const results = resultsIn(output);
  t.same(sitesIn(output), SITES, 'each once');
  t.same(results.slice(0, 3), before);
  for (const site of ['a', 'b', 'c']) t.same(filesIn(join(output, site)), done[site], site);
  t.same(readdirSync(output).toSorted(), [...SITES, 'results.jsonl', 'run.json']);
  const { serial } = JSON.parse(readFileSync(join(output, 'run.json'), 'utf8'));
  for (const [at, site] of SITES.entries()) {
    const isEncrypted = at % 2 === 1;
    const iso = join(output, site, 'site-volume.iso');
    const result = { state: 'done', serial, isEncrypted, sha256: digestOf(iso) };
    t.match(
      results.find((each) => each.site === site),
      result,
    );
    const checked = await run(['verify', 'site-volume', iso, '--ssh-key', `${key}.pub`]);
    t.equal(checked.code, 0, checked.err);
    t.match(checked.out, new RegExp(`serial +${serial}\\b`));
    t.equal(statSync(join(output, site)).mode & 0o777, 0o700);
  }
  t.notMatch(readFileSync(join(output, 'results.jsonl'), 'utf8'), /PRIVATE|AGE-SECRET|age1/);

  const all = filesIn(output);
  const once = await run([...args, '--resume']);
  t.match(once, { code: 0, out: /7 volumes, each with its auth; 7 of them/ });
  t.same(filesIn(output), all, 'nothing is left to do');
  t.same(readdirSync(root).toSorted(), [
    'key',
    'key.pub',
    'programs',
    'site',
    'sites.csv',
    'stuck',
    'volumes',
  ]);
});

t.test('a run that is stopped says how it goes on', { skip }, async (t) => {
  const world = await setUp(t);
  const { code, err } = await stoppedAfter(world, 1, 'SIGINT');
  t.equal(code, 130, err);
  t.match(err, /create site-volumes was stopped by SIGINT; give it again with --resume/);
  t.same(readdirSync(world.output).toSorted(), ['a', 'results.jsonl', 'run.json']);
});

t.test('a run is resumed with the same inputs only', async (t) => {
  const { root, table, key, output, args } = await setUp(t);
  const folder = [...args, '--format', 'folder'];
  const made = await run([...folder, '--resume']);
  t.equal(made.code, 0, 'it begins if there is none');
  const before = filesIn(output);
  const other = join(root, 'other');
  await execa('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', other]);
  const site = join(root, 'site');
  for (const [name, change, says] of [
    ['format', () => [...args, '--format', 'iso'], /found differences in --format\./],
    [
      'signer',
      () => folder.map((arg) => (arg === key ? other : arg)),
      /differences in the key of --sign/,
    ],
    ['table', () => writeFileSync(table, tableOf([...SITES, 'h'])), /differences in the table\. /],
    [
      'template',
      () => writeFileSync(join(site, 'site-config.yaml'), `${TEMPLATE}validUntil: 2999-01-01\n`),
      /differences in the template\. /,
    ],
    [
      'manifests',
      () => writeFileSync(join(site, 'extra-manifests/a.yaml'), manifest('b')),
      /differences in the files that it names, extra-manifests/,
    ],
  ] as const) {
    if (name === 'format' && skip !== false) continue;
    const given = change() ?? folder;
    const { code, err } = await run([...given, '--resume']);
    t.equal(code, 2, name);
    t.match(err, /volumes was begun with other inputs; nothing was written/);
    t.match(err, says);
    t.match(err, /or make all volumes anew in another folder/);
    writeFileSync(table, tableOf(SITES));
    writeFileSync(join(site, 'site-config.yaml'), TEMPLATE);
    writeFileSync(join(site, 'extra-manifests/a.yaml'), manifest('a'));
  }
  t.same(filesIn(output), before);
  rmSync(join(output, 'run.json'));
  t.match(await run([...folder, '--resume']), {
    code: 2,
    err: /expected the folder of an earlier/,
  });
});

t.test('a row that cannot be written does not stop the others, and is named', async (t) => {
  const world = await setUp(t);
  const { output } = world;
  const args = [...world.args, '--format', 'folder', '--parallel', '1'];
  // After the first row, something is where the third one goes.
  const place = join(output, 'c');
  const script = `[ -d '${output}' ] && [ ! -e '${place}' ] && echo mine >'${place}'\nexec "$real" "$@"`;
  await instead(world.root, 'ssh-keygen', script);
  const before = process.env.PATH;
  process.env.PATH = `${join(world.root, 'programs')}:${PATH}`;
  const made = await run(args).finally(() => {
    process.env.PATH = before;
  });
  t.equal(made.code, 1);
  t.match(made.err, /1 volume of 7 could not be made; found 1 site: c\. See .*results\.jsonl/);
  t.match(made.out, /6 of 7 volumes/);
  t.match(
    resultsIn(output).find(({ site }) => site === 'c'),
    {
      state: 'failed',
      isEncrypted: false,
      failure: {
        kind: 'usage',
        what: `There is already ${join(output, 'c')}, which this run has not made`,
      },
    },
  );
  t.equal(readFileSync(join(output, 'c'), 'utf8'), 'mine\n');
  t.match(await run([...args, '--resume']), { code: 1, err: /found 1 site: c/ });
  rmSync(join(output, 'c'));
  const before2 = filesIn(join(output, 'a'));
  const resumed = await run([...args, '--resume']);
  t.equal(resumed.code, 0, resumed.err);
  t.same(
    resultsIn(output)
      .map(({ site, state }) => `${site} ${state}`)
      .toSorted(),
    SITES.map((site) => `${site} done`),
  );
  t.same(filesIn(join(output, 'a')), before2);
});

const mount = (...args: string[]) => spawnSync('mount', args, { stdio: 'ignore' }).status === 0;

t.test('a full disk ends the run, which goes on when there is space', async (t) => {
  const { root, output, args } = await setUp(t);
  const disk = join(root, 'disk');
  mkdirSync(disk);
  if (!mount('-t', 'tmpfs', '-o', 'size=200k', 'site-volumes-test', disk)) {
    return t.comment('needs the right to mount');
  }
  try {
    const out = join(disk, 'out');
    const there = [...args.map((arg) => (arg === output ? out : arg)), '--format', 'folder'];
    const made = await run([...there, '--parallel', '2']);
    t.equal(made.code, 1);
    t.match(made.err, /out is on a file system that is full; expected space for \d volumes? more/);
    const results = resultsIn(out);
    t.ok(results.length > 0 && results.length < 7);
    t.ok(
      results.every(({ state }) => state === 'done'),
      'no row is to blame',
    );
    t.same(
      readdirSync(out).filter((name) => name.startsWith('.')),
      [],
    );
    t.ok(mount('-o', 'remount,size=4m', disk));
    t.match(await run([...there, '--resume']), { code: 0, out: /7 volumes/ });
    t.same(sitesIn(out), SITES);
  } finally {
    execFileSync('umount', [disk]);
  }
});

t.test('in parallel as one after the other', async (t) => {
  const { root, output, args } = await setUp(t);
  const folder = [...args, '--format', 'folder'];
  const seen: unknown[] = [];
  for (const [at, parallel] of ['1', '7'].entries()) {
    const out = join(root, `out-${at}`);
    const made = await run([
      ...folder.map((arg) => (arg === output ? out : arg)),
      '--parallel',
      parallel,
    ]);
    t.equal(made.code, 0, made.err);
    const results = resultsIn(out)
      .map(({ site, state, isEncrypted }) => ({ site, state, isEncrypted }))
      .toSorted((a, b) => a.site.localeCompare(b.site));
    const record = JSON.parse(readFileSync(join(out, 'run.json'), 'utf8'));
    seen.push({
      results,
      inputs: record.inputs,
      files: Object.keys(filesIn(out)).toSorted(),
      err: made.err,
    });
  }
  t.same(seen[1], seen[0]);
  for (const bad of ['0', '-1', '65', 'x', '1.5']) {
    t.match(await run([...folder, '--parallel', bad]), { code: 2, err: /from 1 to 64/ });
  }
});

t.test('a row is encrypted to the recipient of its node unless it has one', async (t) => {
  const { root, output, args } = await setUp(t);
  const nodes = join(root, 'nodes');
  mkdirSync(nodes);
  for (const [at, site] of SITES.entries()) {
    const own = { ...facts, identifiers: [`sn-${at}`], recipient: node.recipient };
    writeFileSync(join(nodes, `${site}.json`), JSON.stringify(own));
  }
  const made = await run([...args, '--format', 'folder', '--host-facts-dir', nodes]);
  t.equal(made.code, 0, made.err);
  t.same(
    resultsIn(output).filter(({ isEncrypted }) => !isEncrypted),
    [],
  );
  t.ok(existsSync(join(output, 'a/volume/site-volume.age')));
});

t.test('what every row would be refused for is refused before', async (t) => {
  const { root, table, output, args } = await setUp(t);
  const folder = [...args, '--format', 'folder'];
  writeFileSync(join(root, 'nokey'), 'none');
  const unable = folder.map((arg) => (arg.endsWith('/key') ? join(root, 'nokey') : arg));
  t.match(await run(unable), { code: 2, err: /nokey cannot sign/ });
  const secret = (await execa('openssl', ['genpkey', '-algorithm', 'ed25519'])).stdout;
  const text = `${manifest('k')}data:\n  key: |\n${secret.replaceAll(/^/gm, '    ')}\n`;
  appendFileSync(join(root, 'site/extra-manifests/k.yaml'), text);
  const bare = await run(folder);
  t.equal(bare.code, 2);
  t.match(
    bare.err,
    /4 errors; nothing was written[\s\S]*line 2 \(a\): a private key or a token is/,
  );
  rmSync(join(root, 'site/extra-manifests/k.yaml'));
  writeFileSync(table, tableOf(['a', 'Run.JSON', 'results.jsonl']));
  t.match(await run(folder), { code: 2, err: /2 errors[\s\S]*a site cannot be called Run\.JSON/ });
  t.notOk(existsSync(output));
});
