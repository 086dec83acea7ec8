import fastifyRateLimit from "@fastify/rate-limit";
import { open } from "cinnabar";
import { rateLimitStore } from "cinnabar/fastify-rate-limit";
import Fastify from "fastify";

const db = await open(process.env.STORE ?? "memory:");
const app = Fastify();
await app.register(fastifyRateLimit, { max: 2, timeWindow: "1 minute", store: rateLimitStore(db) });
app.get("/", () => "hello");

console.log(await app.listen({ port: Number(process.env.PORT ?? 3000), host: "127.0.0.1" }));
