/** Stands for `fastify` in browsers: shapes that types name. */
export type FastifyRequest = object;

export interface FastifyReply {
  type(media: string): this;
  header(name: string, value: string): this;
  send(body: string): this;
}
