/** Whom a host certifies as an administrator: the same rule on the laptop, on a volume and on the host. */
import t from 'tap';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { judgeAdministratorRequest } from '../../../../lib/cluster/csr/administrator-request.ts';
import { credentialsIn } from '../../../../lib/relocation/site-volume/credentials.ts';
import { requestPem, type Variation } from './requests.ts';

const named = (...names: string[]): Variation => ({
  subject: names.map((CN) => ({ CN: [CN] })),
  names: [],
});

for (const name of ['jo', 'jo@example.test', 'Jo.Doe-2_x', 'j'.repeat(63)]) {
  t.test(`a person: ${name}`, async (t) => {
    t.same(judgeAdministratorRequest(await requestPem(named(name))), { commonName: name });
  });
}

const REFUSED: readonly (readonly [title: string, request: Variation, found: RegExp])[] = [
  ['somebody of Kubernetes', named('system:admin'), /system:admin/],
  ['a node', named('system:node:sno'), /system:node/],
  ['an agent', named('sno-agents:gather'), /sno-agents/],
  ['an empty name', named(''), /^$/],
  ['no name', { subject: [{ O: ['system:masters'] }], names: [] }, /none/],
  ['two names', named('a', 'b'), /a, b/],
  ['a name of 64 letters', named('j'.repeat(64)), /jjj/],
  ['a name with a line break', named('jo\nadmin'), /jo/],
  ['a name that begins with a dash', named('-jo'), /-jo/],
  ['a weak key', { ...named('jo'), key: 'RSA-1024' }, /RSA 1024/],
  ['text before it', { ...named('jo'), pem: (right) => `x\n${right}` }, /not one PEM block/],
  ['two requests', { ...named('jo'), pem: (right) => right + right }, /not one PEM block/],
  ['no request', { ...named('jo'), pem: () => 'nothing' }, /no PEM block/],
  ['a request cut off', { ...named('jo'), pem: (right) => `${right.slice(0, 200)}` }, /PEM block/],
];
for (const [title, variation, found] of REFUSED) {
  t.test(`refused, also on a volume: ${title}`, async (t) => {
    const pem = await requestPem(variation);
    t.match(judgeAdministratorRequest(pem), { expected: String, found, fix: /openssl req/ });
    const files = new Map([['credentials/admin.csr', Buffer.from(pem)]]);
    t.throws(() => credentialsIn(files, new Date()), {
      constructor: Failure,
      kind: 'usage',
      code: 'site-volume-refused',
      message: /credentials\/admin\.csr cannot be used/,
    });
  });
}
