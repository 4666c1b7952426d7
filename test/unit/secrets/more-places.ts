import { gzipSync } from 'node:zlib';
import type { Place } from './places.ts';

const LOG = 'Nov 22 10:00:01 sno-0 app[4242]: ';
const TIME = '2026-11-22T10:00:01.123456789Z';
const variable = (field: string) => `APP_${field.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`;
const lines = (...all: string[]) => `${all.join('\n')}\n`;
const encode = (text: string | Buffer) => Buffer.from(text).toString('base64');
const hex = (text: string) => Buffer.from(text).toString('hex').toUpperCase();
const secret = (value: string) => ({
  apiVersion: 'v1',
  data: { user: encode('me'), any: encode(value) },
  kind: 'Secret',
  metadata: { name: 'a' },
});
const docker = (log: string) => JSON.stringify({ log: `${log}\n`, stream: 'stdout', time: TIME });

type Write = (field: string, value: string) => string;
/** A value of several lines does not fit there. */
const oneLine = (name: string, write: Write): Place => ({
  name,
  tells: 'name',
  write: (field, value) =>
    write(field, value.includes('\n') ? value.replaceAll('\n', '\\n') : value),
});
const place = (name: string, tells: Place['tells'], write: Write): Place => ({
  name,
  tells,
  write,
});

/** Records of logs, and settings without quotes. */
export const MORE_PLACES: readonly Place[] = [
  oneLine('a file of settings, without quotes', (field, value) =>
    lines('[a]', `${field} = ${value}`, 'b = c'),
  ),
  oneLine('a file of variables, without quotes', (field, value) =>
    lines('A=b', `${variable(field)}=${value}`, 'C=d'),
  ),
  oneLine('YAML in a log, without quotes', (field, value) =>
    lines(`${LOG}a:`, `${LOG}  ${field}: ${value}`, `${LOG}  b: c`),
  ),
  place('a block of lines', 'name', (field, value) =>
    lines('a:', `  ${field}: |`, ...value.split('\n').map((line) => `    ${line}`), '  b: c'),
  ),
  place('a block of lines in a log', 'name', (field, value) =>
    lines(`${field}: >-`, ...value.split('\n').map((line) => `  ${line}`), 'b: c').replace(
      /^(?=.)/gm,
      LOG,
    ),
  ),
  oneLine('a message of Docker', (field, value) => lines(docker(`${field}: ${value}`))),
  place('lines of Docker', 'looks', (_, value) =>
    lines(...['begin', ...value.split('\n'), 'end'].map(docker)),
  ),
  place('lines of logfmt', 'looks', (_, value) =>
    lines(
      ...value
        .split('\n')
        .map((line, at) => `time="${TIME}" msg=${JSON.stringify(line)} n=${at * 7}`),
    ),
  ),
  place('lines of klog', 'looks', (_, value) =>
    lines(
      ...value
        .split('\n')
        .map((line, at) => `I1122 10:00:01.000000       1 x.go:${at * 7}] ${line}`),
    ),
  ),
  oneLine('a wide column', (field, value) =>
    lines(`${field}:${' '.repeat(40)}${value}`, 'b:    c'),
  ),
  oneLine('a message in colours', (field, value) =>
    lines(
      `\u001b[36mINFO\u001b[0m \u001b[1m${field}\u001b[0m=\u001b[32m${JSON.stringify(value)}\u001b[0m`,
    ),
  ),
  oneLine('a struct of Rust', (field, value) =>
    lines(`${LOG}Config { a: 1, ${field}: Some(${JSON.stringify(value)}), b: 2 }`),
  ),
  oneLine('arguments in a record of auditd', (field, value) =>
    lines(`type=EXECVE msg=audit(1.1:2): argc=3 a0="app" a1="--${field}" a2=${hex(value)}`),
  ),
  oneLine('the title of a process', (field, value) =>
    lines(`type=PROCTITLE msg=audit(1.1:2): proctitle=${hex(`app\0--${field}\0${value}`)}`),
  ),
  oneLine('a variable of a pod that Go printed', (field, value) =>
    lines(`${LOG}Env:[]EnvVar{EnvVar{Name:${variable(field)},Value:${value},ValueFrom:nil,},}`),
  ),
  place('a Secret in one line', 'place', (_, value) =>
    lines(`${LOG}got ${JSON.stringify(secret(value))}`),
  ),
  place('a Secret that Go printed', 'place', (_, value) =>
    lines(
      `${LOG}{TypeMeta:{Kind:Secret} Data:map[any:[${[...Buffer.from(value)].join(' ')}]] Type:b}`,
    ),
  ),
  place('a Secret in flow YAML', 'place', (_, value) =>
    lines(`{apiVersion: v1, kind: "Secret", data: {any: ${encode(value)}}}`),
  ),
  {
    name: 'a file of a MachineConfig',
    tells: 'name',
    write: (field, value) => {
      const text = lines('[a]', `${field} = ${value}`, 'b = c');
      const contents = { compression: 'gzip', source: `data:;base64,${encode(gzipSync(text))}` };
      const files = [{ path: '/etc/a.conf', contents }];
      return lines(
        JSON.stringify({ kind: 'MachineConfig', spec: { config: { storage: { files } } } }),
      );
    },
  },
];
