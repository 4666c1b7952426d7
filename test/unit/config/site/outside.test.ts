/** How a host reaches the outside: proxies, registries, and the logins for them. */
import t from 'tap';
import type { Problem } from '../../../../lib/base/errors/problem.ts';
import { printable } from '../../../../lib/base/printable.ts';
import { repositoryProblem } from '../../../../lib/config/site/mirrors.ts';
import { noProxyProblem, proxyUrlProblem } from '../../../../lib/config/site/proxy.ts';
import { pullSecretProblem } from '../../../../lib/config/site/pull-secret.ts';

interface Table {
  isValid: (text: string) => boolean;
  good: readonly string[];
  bad: readonly string[];
}

const finds = (problem: (text: string) => Problem | undefined) => (text: string) =>
  problem(text) === undefined;

const TABLES: Readonly<Record<string, Table>> = {
  noProxy: {
    isValid: finds(noProxyProblem),
    good: ['', '*', 'a.com.', '.a.com.', 'a,10.0.0.0/8', 'fd00::1'],
    bad: ['a..', ',', 'a,', '*.a', 'a b', '10.0.0.0/33', '.', 'http://a', 'fe80::1%eno1'],
  },
  'pull secrets': {
    isValid: finds(pullSecretProblem),
    good: [
      '{"auths":{"quay.io":{"auth":"dXNlcjpwYXNz"}}}',
      '{"auths":{"foo":{"auth":""}},"credHelpers":{}}',
      '{"auths":{"foo":{"auth":"YTpiOmM="}}}',
      '{"auths":{"foo":{"credsStore":"pass"}}}',
      '{"auths":{"foo":{"auth":"dXNlcjo=","identitytoken":"eyJ"}}}',
      // Of OKD, for nobody.
      '{"auths":{"fake":{"auth":"aWQ6cGFzcwo="}}}',
      // A login in UTF-8, and zero bytes, which clients take off.
      '{"auths":{"foo":{"auth":"dcO8OnDDvA=="},"quay.io":{"auth":"dXNlcjpwYXNzAA=="}}}',
      ...[
        ...[
          'https://index.docker.io/v1/',
          'registry:5000',
          '*.example.com',
          'r.example.com/a/b_c-d',
        ],
        ...['[fd00::1]:5000', '192.168.7.1:65535/a', 'localhost'],
      ].map((name) => `{"auths":{"${name}":{"auth":"YTpi"}}}`),
    ],
    bad: [
      ...['', '{}', '[]', 'null', '"auths"', '{"auths":null}', '{"auths":[]}', '{"auths":{}}'],
      ...[
        '{"auths":{"a":null}}',
        '{"auths":{"a":{}}}',
        '{"auths":{"a":{"auth":1}}}',
        '{"auths":{"a":"b"}}',
      ],
      '{"auths":{"a":{"auth":"YTpi"},"__proto__":{}}}',
      // Not base64, not padded, base64 without a colon, without a password, without a user; the URL's alphabet.
      ...['bar', 'YTpi=', 'dXNlcg==', 'dXNlcjo=', 'OnBhc3M=', 'a-_i', '$' + '{AUTH}'].map(
        (auth) => `{"auths":{"foo":{"auth":"${auth}"}}}`,
      ),
      '{{ pull_secret }}',
      // As `echo user:password | base64` makes it.
      '{"auths":{"quay.io":{"auth":"dXNlcjpwYXNzCg=="}}}',
      '{"auths":{"foo":{"auth":"YTpi"},"foo":{"auth":"YTpj"}}}',
      '{"auths":{"foo":{"auth":"YTpi"}},"auths":{"bar":{"auth":"YTpi"}}}',
      '{"auths":{"foo":{"auth":"dXNlcjo=","identitytoken":""}}}',
      ...[
        ...['', ' quay.io', '<local_registry>', 'r.example.com:0', 'r.example.com:65536', 'user@r'],
        ...['oci://r.example.com', 'r.example.com:port', 'r.example.com/a:latest'],
      ].map((name) => `{"auths":{"quay.io":{"auth":"YTpi"},"${name}":{"auth":"YTpi"}}}`),
    ],
  },
  'registries and repositories': {
    isValid: finds(repositoryProblem),
    good: ['quay.io', 'r:5000/a', '192.168.7.1:5000/a', '[fd00::1]:65535/a', 'R.example.com/a'],
    bad: [
      ...['r.example.com:0/a', 'r.example.com:65536/a', '-r.example.com/a', 'r-.example.com/a'],
      ...[
        '300.1.1.1:5000/a',
        '192.168.7:5000/a',
        '[fd00::g]:5000/a',
        'fd00::1/a',
        'r..com/a',
        'me@r/a',
      ],
    ],
  },
  'URLs of proxies': {
    isValid: finds((text) => proxyUrlProblem(text, ['http'])),
    good: [
      ...[
        'http://proxy',
        'HTTP://Proxy.example.com:3128/',
        'http://pro_xy:80',
        'http://[fd00::1]:3128',
      ],
      ...['http://192.168.7.1:3128', 'http://me:a%40b@192.168.7.1:3128', 'http://proxy.:3128'],
      'http://me:$a!*@proxy',
    ],
    bad: [
      ...['http://proxy:0', 'http://192.168.7:3128', 'http://0x7f.1', 'http://$' + '{PROXY}:3128'],
      // Go refuses the first ones, curl that with two @; the last ones are no names.
      ...[
        'http:///proxy:3128',
        'http://me:100%@proxy',
        'http://me%zz@proxy',
        'http://me:a@b@proxy',
      ],
      ...['|', '^', '`', '{', '<'].map((sign) => `http://me:a${sign}b@proxy`),
      ...['http://proxy..example.com', 'http://-proxy:3128', 'http://proxy-.example.com'],
    ],
  },
};

const name = (text: string) => printable(JSON.stringify(text));

for (const [table, { isValid, good, bad }] of Object.entries(TABLES)) {
  t.test(table, async (t) => {
    for (const text of good) t.ok(isValid(text), `${name(text)} is accepted`);
    for (const text of bad) t.notOk(isValid(text), `${name(text)} is refused`);
  });
}

t.test('a refused secret is not shown', async (t) => {
  const secrets = [
    'hunter2',
    '{"auths":{"hunter2":{}}}',
    '{"auths":{"a.b":{"password":"hunter2"}}}',
  ];
  for (const text of secrets) t.notMatch(JSON.stringify(pullSecretProblem(text)), 'hunter2');
  t.match(pullSecretProblem('{"auths":{"quay.io":{}}}')?.found, 'quay.io');
  const deep = `{"auths":${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}}`;
  t.match(pullSecretProblem(deep), { found: 'more levels than can be read', fix: /^Copy the/ });
  t.match(pullSecretProblem('{"auths":\n{"quay.io":{"auth":"YTpi"}, "quay.io":{}}}'), {
    found: /twice at character 29 of line 2/,
    fix: 'Remove one of the two.',
  });
  t.match(pullSecretProblem('/srv/pull-secret.json'), { found: 'the path of a file' });
  t.match(pullSecretProblem(Buffer.from('{"auths":{"a.b":{}}}').toString('base64')), {
    found: 'base64 of JSON',
    fix: /base64 -d/,
  });
  t.match(pullSecretProblem('{"auths":{"quay.io":{"auth":"dXNlcjpwYXNzCg=="}}}'), {
    found: /line break.* for quay\.io/,
    fix: /printf/,
  });
});
