/** The judge of nmstate documents against nmstate itself. */
import { join } from 'node:path';
import { execa } from 'execa';
import t from 'tap';
import { askNmstatectl } from '../../../cli/nmstate/ask-nmstatectl.ts';
import { offlineDocument } from '../../../cli/nmstate/offline-document.ts';
import { ensureComponent } from '../../../lab/components/component.ts';
import { missingPrerequisites } from '../../../lab/components/debian-packages.ts';
import { nmstatectl } from '../../../lab/components/nmstatectl.ts';
import { isRecord } from '../../../lib/base/json.ts';
import { readDocument } from '../../../lib/config/file/document.ts';
import { withoutNulls } from '../../../lib/config/file/site-fields.ts';
import { nmstateMisfits } from '../../../lib/config/site/nmstate/document.ts';
import type { Misfit } from '../../../lib/config/site/nmstate/misfit.ts';
import { FEATURES } from '../../../lib/config/site/nmstate/structure/features.ts';
import { nmstateText } from '../../../lib/config/site/nmstate/text.ts';
import { TOLD } from '../../unit/config/site/told-documents.ts';
import { ACCEPTED } from './documents.ts';
import { edited, type Mutant, mutantsOf } from './mutants.ts';
import { REFUSED } from './refused.ts';

const signal = AbortSignal.timeout(25 * 60_000);
const lacks = await missingPrerequisites();
const AT_ONCE = 4;

/** What this judge alone refuses, by what it expects: nmstate drops it, or the host would refuse it. */
const STRICTER = [
  /^one of bond, dummy/,
  /^six bytes/,
  /^a string$/,
  /^a text$/,
  /^a domain$/,
  /^an existing interface$/,
  /^a network$/,
  /^an integer from 1 to 4094$/,
  /^a list of interfaces$/,
  /^a PCI address/,
  /^true, since there are addresses$/,
  /^no addresses on a bridge of Open vSwitch/,
  /^a family of this interface/,
  /^an nmstate document$/,
  /^a mapping$/,
  /^at most 15 characters/,
  // Without its section or type nmstate would look for the interface on the host.
  /^a mapping with /,
  /^(linux-bridge|vlan)$/,
  // NetworkManager or the kernel would refuse it.
  /^an integer from (68 to 65575|[01] to 4094|0 to 4095|0 to 7|0 to 16777215)$/,
  /^one of (pap|secure|system), /,
  /^a list with some of leap/,
  /^IPv4 addresses/,
  /^arp_ip_target beside it$/,
  /^a port of the bond/,
  /^no such option with mode [a-z0-9.-]+$/,
  /^an? (IPv[46] address for mode|interface that is up|adapter of its own|port of the bridge)/,
  /^another (interface|number)/,
  /^at most \d+: the mtu/,
  /^each function once$/,
  /^a number below total-vfs/,
  /, which the method \w+ needs$/,
  /^an interface that is not made of itself$/,
  /^a port that is no bridge itself$/,
  /^an integer from (0 to (63|255|1023|4094|65535)|1 to (65535|4294967295))/,
  /^a power of 2$/,
];

function documentIn(text: string): Record<string, unknown> {
  const { value, faults } = readDocument(text);
  if (!isRecord(value) || faults.length > 0) throw new Error(JSON.stringify(faults));
  return withoutNulls(value);
}

const inWords = (misfits: readonly Misfit[]) =>
  misfits.map(({ path, expected, fix }) => `${path.join('.')}: expected ${expected}. ${fix}`);

t.test('nmstate itself', { skip: lacks.length > 0 && lacks.join('; ') }, async (t) => {
  const folder = await ensureComponent(nmstatectl, { signal, report: (line) => t.comment(line) });
  /** Undefined if nmstate accepts it. */
  const answerTo = async (document: Record<string, unknown>) => {
    const { exitCode, stderr } = await execa(join(folder, 'nmstatectl'), ['-q', 'gc', '-'], {
      input: nmstateText(offlineDocument(document)),
      reject: false,
      timeout: 60_000,
      cancelSignal: signal,
    });
    return exitCode === 0 ? undefined : (stderr.split('\n').at(-1) ?? '');
  };

  t.test('accepts what is accepted here', async (t) => {
    for (const [name, text] of Object.entries({ ...ACCEPTED, ...TOLD })) {
      const document = documentIn(text);
      t.strictSame(inWords(nmstateMisfits(document, 'hostname')), [], name);
      t.equal(await answerTo(document), undefined, name);
    }
  });

  t.test('knows each feature of ethtool that is known here', async (t) => {
    const feature = Object.fromEntries(FEATURES.map((name) => [name, true]));
    const adapter = { name: 'eno1', type: 'ethernet', ethtool: { feature } };
    t.equal(await answerTo({ interfaces: [adapter] }), undefined);
  });

  t.test('refuses what is refused here, in the field that is named', async (t) => {
    for (const [name, { text, field, fix }] of Object.entries(REFUSED)) {
      const document = documentIn(text);
      const misfits = nmstateMisfits(document, 'hostname');
      t.strictSame(
        misfits.map(({ path }) => path.join('.')),
        [field],
        name,
      );
      t.match(inWords(misfits).join(), fix, name);
      t.ok(await answerTo(document), `${name}: nmstate refuses it too`);
    }
  });

  t.test('is asked by sno, where the machine has it', async (t) => {
    const { PATH } = process.env;
    t.teardown(() => {
      process.env.PATH = PATH;
    });
    const refused = 'interfaces: [{name: eno1, type: ethernet, ipv4: {dchp: true}}]';
    process.env.PATH = t.testdir();
    await askNmstatectl(refused, 'networkConfig', signal);
    t.pass('without it nothing is asked');
    process.env.PATH = `${folder}:${PATH}`;
    await t.rejects(askNmstatectl(refused, 'networkConfig', signal), {
      kind: 'usage',
      message: 'networkConfig is refused by nmstatectl; nothing was written',
      details: {
        expected: /nmstatectl \d+\.\d+\.\d+, which this machine has/,
        found: /unknown field `dchp`/,
      },
    });
    for (const text of [undefined, ...Object.values(ACCEPTED), ...Object.values(TOLD)]) {
      await askNmstatectl(text, 'networkConfig', signal);
    }
    t.pass('it accepts what is accepted here');
  });

  t.test('agrees about each key, left out, misspelt, and with another value', async (t) => {
    const mutants = Object.entries({ ...ACCEPTED, ...TOLD }).flatMap(([name, text]) => [
      ...mutantsOf(name, documentIn(text)),
    ]);
    t.ok(mutants.length > 700, `${mutants.length} documents`);
    const queue = mutants.values();
    const worker = async () => {
      for (const mutant of queue) {
        for (const disagreement of await compared(mutant, mutant.isMisspelt)) t.fail(disagreement);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  });

  async function compared({ name, document }: Mutant, isMisspelt: boolean): Promise<string[]> {
    const misfits = nmstateMisfits(document, 'hostname');
    const answer = await answerTo(document);
    if (misfits.length === 0)
      return answer === undefined ? [] : [`${name}: only nmstate: ${answer}`];
    // nmstate would look at one of the two alone.
    if (misfits.some(({ expected }) => expected === 'a unique name')) return [];
    const alone = misfits.filter(({ expected }) => !STRICTER.some((each) => each.test(expected)));
    if (answer === undefined && alone.length > 0)
      return [`${name}: only here: ${inWords(misfits)}`];
    return isMisspelt ? ofFix(name, document, misfits) : [];
  }

  /** A key that is suggested for a misspelt one is accepted in its place. */
  async function ofFix(
    name: string,
    document: Record<string, unknown>,
    misfits: readonly Misfit[],
  ): Promise<string[]> {
    const unknown = misfits.find(({ ofKey, fix }) => ofKey && fix.startsWith('Did you mean'));
    const [, meant] = /^Did you mean (.*)\?$/.exec(unknown?.fix ?? '') ?? [];
    if (unknown === undefined || meant === undefined) return [];
    const corrected = edited(document, unknown.path, (owner, key) => {
      Reflect.set(owner, meant, Reflect.get(owner, key));
      Reflect.deleteProperty(owner, key);
    });
    const answer = await answerTo(corrected);
    return answer === undefined ? [] : [`${name}: the fix ${meant} is refused: ${answer}`];
  }
});
