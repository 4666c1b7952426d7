import t from 'tap';
import { sshKeyProblem, sshKeys } from '../../../../lib/pki/signature/ssh-keys.ts';

/** As written by ssh-keygen; the private keys were discarded. */
const ED25519 =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIC4Ua/Xlz9zSIYKOL6JagFqQtBbdQ0DVpFjnx5QUel0X me@example.com';
const KEYS = [
  ED25519,
  'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC6IDKSYUNFoz8kl46+E0Y0pTrLmZ3npAv3bPISGNs5Ci2dhlNLhjD3TMSxrJstcKk+WPo2fu3RtJ7+DbiUzuU68oND/BQ9ehpR/5GTU4uZNASJ0rswaUPPufsGATH6y//pK49ntB5h/ArCKhO2rEmn39J4pKgnRFcLN44gXmvaSOiCrOxkge2i7XxWdTjgEBLAKsSPvqFSl1Fyc4T1DXD2ozkEgh9M3GBbQhHTUqsm+dsEfGbL26ZpZRT8eFn2FJ0Ivkap8qV9xO2f6HVMymyRmSmbpiRp6z7/DH3v2WnUBLRwsmSojXB2ttkk9wxP8Seg+grM32zA5gfZGOZu+0Pz me',
  'ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBGVWJA5dyK2+z8ev/hbcDfeR861z3rmfU4NfdDPD1ckNGUAF0P4oFzRgIqhbCG5f3M7TvUJJWuM8J/JYzcu3H5g= me',
  'ecdsa-sha2-nistp384 AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAAAIbmlzdHAzODQAAABhBEIgQFs/M9dlpJR6hbkissgtRSxi30qplRoFSKwoIZV3O9xBJbcJU6kaWMS/yoAyET4IxEzmsJc8fuwV1OAstYmoe3RGpNwRk2pQxXfiNGKbJKEW8P3OedevvPek2nszdw== me',
  'ecdsa-sha2-nistp521 AAAAE2VjZHNhLXNoYTItbmlzdHA1MjEAAAAIbmlzdHA1MjEAAACFBAH41EZa7CnOAJgyB3ajKb1n8xB0xa7CvV8IlXYaBK7IV1nhKxIsOAtxJs2xLOp1XgAXrQwj+Aef8HRgNz7ZQTl2mADAq+Gf5jpaxnfIW00RmcGSp0T5gpGomgy2SYsCL9w4OkxCbrwwCBviSOm3iXnAIE/3FzCtGNANTsim1Jw6hU8X0A== me',
  // On a security key.
  'sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAIC4Ua/Xlz9zSIYKOL6JagFqQtBbdQ0DVpFjnx5QUel0XAAAABHNzaDo=',
  'sk-ecdsa-sha2-nistp256@openssh.com AAAAInNrLWVjZHNhLXNoYTItbmlzdHAyNTZAb3BlbnNzaC5jb20AAAAIbmlzdHAyNTYAAABBBGVWJA5dyK2+z8ev/hbcDfeR861z3rmfU4NfdDPD1ckNGUAF0P4oFzRgIqhbCG5f3M7TvUJJWuM8J/JYzcu3H5gAAAAEc3NoOg== me too',
];

/** As in authorized_keys (sshd(8)). */
const OPTIONS = [
  'from="192.168.7.0/24,*.example.com"',
  'no-pty',
  'No-Touch-Required,verify-required,permitopen="a:1",expiry-time="20300101",tunnel="0"',
  'permitopen="[fd00::1]:*",permitlisten="8080",expiry-time="203001312359Z"',
  'restrict,command="echo \\"hello, you\\" | cat",environment="A=b c"',
  'cert-authority,principals="a,b"',
];

t.test(
  'complete keys of every kind are accepted, with options, comments and empty lines',
  async (t) => {
    for (const key of KEYS) t.equal(sshKeyProblem(key), undefined, key.slice(0, 30));
    for (const options of OPTIONS) {
      t.equal(sshKeyProblem(`${options} ${ED25519}`), undefined, options);
      t.equal(sshKeyProblem(`${options}\t${ED25519}`), undefined, `${options} and a tab`);
    }
    t.equal(sshKeyProblem(`# mine\n\n${KEYS.join('\r\n')}\n`), undefined);
    for (const empty of ['', '\n', '# nobody']) {
      t.equal(sshKeyProblem(empty), undefined, JSON.stringify(empty));
      t.same(sshKeys(empty), []);
    }
    t.same(sshKeys(`# mine\n  ${ED25519}  \n\n`), [ED25519]);
  },
);

t.test('a truncated key is refused, whatever its kind', async (t) => {
  for (const key of KEYS) {
    const [type = '', body = ''] = key.split(' ');
    for (let length = 0; length < body.length; length += 1) {
      const cut = `${type} ${body.slice(0, length)}`;
      if (sshKeyProblem(cut) === undefined)
        t.fail(`${type} cut to ${length} characters is accepted`);
    }
    t.match(sshKeyProblem(`${type} ${body.slice(0, -4)} me`), {
      found: 'an invalid key, number 1 of 1',
    });
  }
});

t.test('the path of a key is no key', async (t) => {
  for (const path of [
    '~/.ssh/id_ed25519.pub',
    '/srv/keys/id.pub',
    './id',
    '../keys/id',
    'id_rsa.pub',
  ]) {
    t.match(sshKeyProblem(`${ED25519}\n${path}`), { found: 'the path of a file, number 2 of 2' });
  }
  for (const other of ['id_rsa', 'AAAA/BBBB', 'ssh-ed25519 /AAAA', '/']) {
    t.match(sshKeyProblem(other), { found: 'an invalid key, number 1 of 1' }, other);
  }
});

const BAD: readonly [name: string, line: string][] = [
  [
    'an Ed25519 key of 31 bytes',
    'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAHy4Ua/Xlz9zSIYKOL6JagFqQtBbdQ0DVpFjnx5QUel0=',
  ],
  [
    'a key with a field too many',
    'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIC4Ua/Xlz9zSIYKOL6JagFqQtBbdQ0DVpFjnx5QUel0XAAAAAXg=',
  ],
  [
    'a point that is not of the curve',
    'ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBGVWJA5dyK2+z8ev/hbcDfeR861z3rmfU4NfdDPD1ckNGUAF0P4oFzRgIqhbCG5f3M7TvUJJWuM8J/JYzcu3H5k=',
  ],
  [
    'another curve than the type says',
    'ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAzODQAAABBBGVWJA5dyK2+z8ev/hbcDfeR861z3rmfU4NfdDPD1ckNGUAF0P4oFzRgIqhbCG5f3M7TvUJJWuM8J/JYzcu3H5g=',
  ],
  [
    'an RSA key of 512 bits',
    'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAQQDBvkap8qV9xO2f6HVMymyRmSmbpiRp6z7/DH3v2WnUBLRwsmSojXB2ttkk9wxP8Seg+grM32zA5gfZGOZu+0Pz',
  ],
  [
    'an RSA key with an even exponent',
    'ssh-rsa AAAAB3NzaC1yc2EAAAADAQAAAAABAQC6IDKSYUNFoz8kl46+E0Y0pTrLmZ3npAv3bPISGNs5Ci2dhlNLhjD3TMSxrJstcKk+WPo2fu3RtJ7+DbiUzuU68oND/BQ9ehpR/5GTU4uZNASJ0rswaUPPufsGATH6y//pK49ntB5h/ArCKhO2rEmn39J4pKgnRFcLN44gXmvaSOiCrOxkge2i7XxWdTjgEBLAKsSPvqFSl1Fyc4T1DXD2ozkEgh9M3GBbQhHTUqsm+dsEfGbL26ZpZRT8eFn2FJ0Ivkap8qV9xO2f6HVMymyRmSmbpiRp6z7/DH3v2WnUBLRwsmSojXB2ttkk9wxP8Seg+grM32zA5gfZGOZu+0Pz',
  ],
  [
    'a negative RSA modulus',
    'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABALogMpJhQ0WjPySXjr4TRjSlOsuZneekC/ds8hIY2zkKLZ2GU0uGMPdMxLGsmy1wqT5Y+jZ+7dG0nv4NuJTO5Tryg0P8FD16GlH/kZNTi5k0BInSuzBpQ8+5+wYBMfrL/+krj2e0HmH8CsIqE7asSaff0nikqCdEVws3jiBea9pI6IKs7GSB7aLtfFZ1OOAQEsAqxI++oVKXUXJzhPUNcPajOQSCH0zcYFtCEdNSqyb52wR8ZsvbpmllFPx4WfYUnQi+RqnypX3E7Z/odUzKbJGZKZumJGnrPv8Mfe/ZadQEtHCyZKiNcHa22ST3DE/xJ6D6CszfbMDmB9kY5m77Q/M=',
  ],
  ['a DSA key, which sshd refuses', 'ssh-dss AAAAB3NzaC1kc3MAAAABAQAAAAEBAAAAAQEAAAABAQ=='],
  ['another type than the key has', ED25519.replace('ssh-ed25519', 'ssh-rsa')],
  ['no type', ED25519.replace('ssh-ed25519 ', '')],
  ['options without a key', 'no-pty,from="a"'],
  ['an option whose quote is not closed', `from="a ${ED25519}`],
  ['an empty option', `,no-pty ${ED25519}`],
  ['a control character', `${ED25519} \u001b[31m`],
  ['a user before the key', `core ${ED25519}`],
  ['an entry of a list', `- ${ED25519}`],
  ['an option that sshd does not know', `no-pyt ${ED25519}`],
  ['an option without its value', `from ${ED25519}`],
  ['a flag with a value', `restrict="a" ${ED25519}`],
  ['an end that is no time', `expiry-time="2030-01-01" ${ED25519}`],
  ['an opening without a port', `permitopen="a" ${ED25519}`],
  ['a known_hosts line', `example.com ${ED25519}`.replace('example.com', 'example.com,192.0.2.1')],
];
for (const [name, line] of BAD) {
  t.test(`refused: ${name}`, async (t) => {
    t.match(sshKeyProblem(`${ED25519}\n${line}\n`), { found: 'an invalid key, number 2 of 2' });
  });
}

t.test('two keys folded into one line', async (t) => {
  const [first = '', second = ''] = KEYS;
  for (const line of [
    `${first} ${second}`,
    `no-pty ${first} ${second}`,
    `${second}\t${first}`,
    `${first},${second}`,
  ]) {
    t.match(sshKeyProblem(`${first}\n${line}`), { found: /^two keys in one line, number 2 of 2/ });
  }
  t.equal(sshKeyProblem(`${first} my ssh-rsa key`), undefined, 'a comment');
});

t.test('RSA keys that log nobody in', async (t) => {
  // The first 1024 bits of a longer one: nobody has its private key.
  const short =
    'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQC6IDKSYUNFoz8kl46+E0Y0pTrLmZ3npAv3bPISGNs5Ci2dhlNLhjD3TMSxrJstcKk+WPo2fu3RtJ7+DbiUzuU68oND/BQ9ehpR/5GTU4uZNASJ0rswaUPPufsGATH6y//pK49ntB5h/ArCKhO2rEmn39J4pKgnRFcLN44gXmvaSQ==';
  t.match(sshKeyProblem(`${ED25519}\n${short}`), {
    expected: 'RSA keys of at least 2048 bits',
    found: '1024 bits in key number 2 of 2',
  });
});

t.test('a certificate is named as such: its file ends in .pub, too', async (t) => {
  const certificate =
    'ssh-ed25519-cert-v01@openssh.com AAAAIHNzaC1lZDI1NTE5LWNlcnQtdjAxQG9wZW5zc2guY29t me';
  for (const line of [certificate, `cert-authority ${certificate}`]) {
    t.match(sshKeyProblem(`${ED25519}\n${line}`), {
      found: 'a certificate, number 2 of 2',
      fix: /without -cert in its name/,
    });
  }
});
