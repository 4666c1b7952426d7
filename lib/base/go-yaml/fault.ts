/** A text that go-yaml refuses. */
export class GoYamlFault extends Error {
  /** Where in the text, in UTF-16 code units. */
  readonly offset: number;

  constructor(reason: string, offset: number) {
    super(reason);
    this.name = 'GoYamlFault';
    this.offset = offset;
  }
}
