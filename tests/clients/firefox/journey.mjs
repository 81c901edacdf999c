// The main journeys in Firefox, driven by puppeteer-core over WebDriver BiDi. What it is about comes as JSON in the first
// argument. It writes each step that is done as a line; a step that cannot be done, and a page's error, ends it.

import puppeteer from "puppeteer-core";

const { program, url, email, password, quote, visit, photo } = JSON.parse(process.argv[2]);
const WIDE = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };
const browser = await puppeteer.launch({ browser: "firefox", executablePath: program, headless: true });
const page = await browser.newPage();
const errors = [];
page.on("pageerror", (error) => errors.push(error.message));
page.on("console", (message) => {
  // Firefox says so of each page that a test opens over HTTP, which browsers trust on the machine itself.
  if (message.type() === "error") errors.push(message.text());
});

// The field with this label, within a part of the page.
const field = (label, within = "main") => page.locator(`${within} ::-p-aria([name="${label}"])`);
const button = (name, within = "main") => page.locator(`${within} ::-p-aria([name="${name}"][role="button"])`);
const open = (path) => page.goto(url + path);

// Waits until something is true of the page. What puppeteer has for it is stopped by the strict policy of our pages.
async function until(isTrue, about) {
  for (const end = Date.now() + 30_000; Date.now() < end; await new Promise((done) => setTimeout(done, 50))) {
    if (await page.evaluate(isTrue, about).catch(() => false)) return;
  }
  throw new Error(`${about ?? isTrue} is not on ${page.url()}: ${await page.evaluate(() => document.body.innerText)}`);
}
const seeTitle = (text) => until((wanted) => document.querySelector("h1").innerText.includes(wanted), text);
const seeText = (text) => until((wanted) => document.body.innerText.includes(wanted), text);

async function step(name, act) {
  await act();
  if (errors.length) throw new Error(`${name}: ${errors.join("; ")}`);
  console.log(name);
}

try {
  await page.setViewport(WIDE);
  await step("sign in", async () => {
    await open("/sign-in");
    await page.locator("#email").fill(email);
    await page.locator("#password").fill(password);
    await button("Sign in").click();
    await page.waitForSelector("body.office");
  });
  await step("new customer", async () => {
    await open("/customers/new");
    await page.locator("#name").fill("Firefox Farm");
    await button("Create customer").click();
    await seeTitle("Firefox Farm");
  });
  await step("new job", async () => {
    await open("/jobs/new");
    // The picker shows what it finds as one types.
    await page.locator("#customerId").click();
    await page.keyboard.type("Firefox");
    await page.locator("[role=option]").click();
    await page.locator("#title").fill("Mend the gate");
    await button("Create job").click();
    await seeTitle("Mend the gate");
  });
  await step("schedule", async () => {
    await open("/schedule?view=day");
    await page.locator(".waiting a.plan").click();
    await page.waitForSelector("dialog#new-visit[open]");
    await button("Plan visit", "dialog").click();
    await page.waitForSelector("#board .booked ::-p-text(Mend the gate)");
    await seeText("Undo");
  });
  await step("lines", async () => {
    await open(`${quote}/lines`);
    await page.locator("#new-description").fill("Waste disposal");
    await page.locator(".line-row.new [name$=unitPrice]").fill("20");
    await page.keyboard.press("Enter");
    await until(() => document.querySelectorAll(".line-row:not(.new)").length === 2);
    await until(() => document.querySelector(".save-state").textContent.trim() === "Saved");
  });
  await step("visit", async () => {
    await page.setViewport(PHONE);
    await open(visit);
    await button("Start work").click();
    await seeText("Visit started.");
    await page.locator("a.button ::-p-text(Finish)").click();
    await page.waitForSelector("form.finish");
    await page.locator("#text").fill("Gate hangs again.");
    await (await page.$("#files")).uploadFile(photo);
    await page.locator("form.finish .work-buttons button").click();
    await seeText("Visit done.");
    await until(() => document.getElementById("waiting")?.hidden ?? true);
  });
} finally {
  await browser.close();
}
