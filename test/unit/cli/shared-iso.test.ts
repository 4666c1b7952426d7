import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { pointerTo, requireFetchable } from '../../../cli/create/config-by-url.ts';
import { extentsIn, sha256OnIso, textOnIso } from '../../../cli/iso/iso-files.ts';
import { descriptionText, parseDescription } from '../../../cli/iso/medium-description.ts';
import { decodeDataUrl } from '../../../lib/base/data-url.ts';
import { sha256 } from '../../../lib/host/files.ts';
import { configSchema } from '../../../lib/render/ignition/config.ts';
import { matchesHash } from '../../../lib/render/ignition/data-url.ts';
import { SITE_CA } from './certificates.ts';

t.test('where files of an ISO are, as xorriso says it', async (t) => {
  const report = [
    'Report layout: xt , Startlba ,   Blocks , Filesize , ISO image path',
    "File data lba:  0 ,      310 ,        1 ,      231 , '/sno-agents/medium.json'",
    "File data lba:  0 ,      311 ,      245 ,   500122 , '/sno-agents/it's here'",
    "File data lba:  0 ,      600 ,  2097151 , 4294965248 , '/sno-agents/large'",
    "File data lba:  1 ,  2097751 ,        5 ,    10000 , '/sno-agents/large'",
  ];
  t.strictSame(
    [...extentsIn(report.join('\n'))],
    [
      ['/sno-agents/medium.json', { offset: 310 * 2048, size: 231 }],
      ["/sno-agents/it's here", { offset: 311 * 2048, size: 500122 }],
    ],
    'without one in two pieces',
  );
});

t.test('a file of an ISO is read within its limits', async (t) => {
  const iso = join(t.testdir(), 'x.iso');
  writeFileSync(iso, `${'.'.repeat(2048)}hello`);
  const signal = AbortSignal.timeout(10_000);
  const hello = { offset: 2048, size: 5 };
  t.equal(await textOnIso(iso, hello, 5), 'hello');
  t.equal(await sha256OnIso(iso, hello, signal), sha256('hello'));
  t.equal(await sha256OnIso(iso, { offset: 2048, size: 0 }, signal), sha256(''));
  const damaged = { kind: 'usage', message: /damaged/ };
  await t.rejects(textOnIso(iso, hello, 4), damaged, 'too large');
  await t.rejects(textOnIso(iso, { offset: 2048, size: 6 }, 10), damaged, 'it ends early');
});

t.test(
  'the description of a medium is the same for the same contents, and read strictly',
  async (t) => {
    const executableSha256 = sha256('executable');
    const bare = { version: '1.2.3', architecture: 'amd64', executableSha256 } as const;
    const whole = { ...bare, payloadSha256: sha256('payload') };
    for (const medium of [bare, whole]) {
      const text = descriptionText(medium);
      t.match(parseDescription(text, 'x.iso'), medium);
      t.equal(descriptionText(parseDescription(text, 'x.iso')), text);
    }
    const { payloadSha256 } = whole;
    const turned = descriptionText({
      payloadSha256,
      executableSha256,
      architecture: 'amd64',
      version: '1.2.3',
    });
    t.equal(turned, descriptionText(whole));
    for (const [text, found] of [
      ['', /the whole file/],
      [descriptionText({ ...bare, executableSha256: 'short' }), /executableSha256/],
      [descriptionText(bare).replace('v1', 'v2'), /apiVersion/],
      [descriptionText(bare).replace('{', '{"more":1,'), /the whole file/],
    ] as const) {
      t.throws(() => parseDescription(text, 'x.iso'), {
        kind: 'usage',
        message: /x\.iso is not a shared ISO that this sno can read/,
        details: { found },
      });
    }
  },
);

t.test('a config that names another has its digest, the CA and the proxy', async (t) => {
  const place = { url: 'https://files.example.com/a/x.ign', name: 'x.ign', authorities: SITE_CA };
  const proxy = { httpsProxy: 'http://proxy.example.com:3128', noProxy: ['.example.com'] };
  const text = pointerTo('{"secret": 1}', { proxy }, place);
  const { ignition } = configSchema.parse(JSON.parse(text));
  const replace = ignition.config?.replace ?? {};
  t.equal(replace.source, place.url);
  t.ok(matchesHash(replace, Buffer.from('{"secret": 1}')));
  t.notOk(matchesHash(replace, Buffer.from('{"secret": 2}')));
  t.strictSame(ignition.proxy, proxy);
  const { certificateAuthorities } = JSON.parse(text).ignition.security.tls;
  t.equal(decodeDataUrl(certificateAuthorities[0]).toString(), SITE_CA);
  const plain = pointerTo('{}', {}, { ...place, authorities: undefined });
  t.strictSame(Object.keys(JSON.parse(plain).ignition), ['version', 'config']);
  t.doesNotThrow(() => requireFetchable({}));
  t.throws(() => requireFetchable({ networkConfig: 'interfaces: []' }), {
    message: /not with networkConfig/,
  });
});
