// The whole program, by way of run(): what golden cases cannot show.
#include "cli/run.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <sstream>
#include <thread>

#include "catch.h"
#include "cli/fd_stream.h"
#include "cli/files.h"
#include "run.h"
#include "temporary.h"

using namespace lmsize;
using test::Ran;
using test::run;

namespace {

std::string config(int vocab) {
  return R"({"model_type": "gpt2", "n_embd": 64, "n_head": 4, "n_layer": 2, "vocab_size": )" + std::to_string(vocab) +
         "}";
}

std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// A sink that takes some bytes and then fails, as a pipe whose reader goes away or a disk that fills up.
template <class Fault>
class Failing : public std::streambuf {
 public:
  Failing(std::size_t room, Fault fault) : room_(room), fault_(std::move(fault)) {}

 protected:
  int_type overflow(int_type c) override { return xsputn("", 1), c; }
  std::streamsize xsputn(const char*, std::streamsize size) override {
    if (static_cast<std::size_t>(size) > room_) throw Fault(fault_);
    room_ -= static_cast<std::size_t>(size);
    return size;
  }

 private:
  std::size_t room_;
  Fault fault_;
};

template <class Fault>
Ran run_into(Failing<Fault> sink, const std::vector<std::string>& words, const std::string& input) {
  std::vector<const char*> args;
  for (const std::string& word : words) args.push_back(word.c_str());
  std::istringstream in(input);
  std::ostream out(&sink);
  out.exceptions(std::ios::badbit);
  std::ostringstream err;
  const int status = cli::run(args, in, out, err);
  return {status, "", err.str()};
}

}  // namespace

TEST_CASE("list shows what each architecture is by default") {
  const Ran table = run({"list", "--architectures"});
  CHECK(table.status == 0);
  CHECK(lines_in(table.out) == architectures().size() + 1);
  const Ran json = run({"list", "--architectures", "--json"});
  for (
      const char* known :
      {R"({"model_type":"mistral","family":"llama","architecture":"MistralForCausalLM","attention":"gqa","mlp":"swiglu"})",
       R"({"model_type":"deepseek_v3","family":"deepseek","architecture":"DeepseekV3ForCausalLM","attention":"mla","mlp":"swiglu"})",
       R"({"model_type":"deepseek_v4","family":"deepseek_v4","architecture":"DeepseekV4ForCausalLM","attention":"mqa","mlp":"swiglu"})",
       R"({"model_type":"mamba","family":"mamba","architecture":"MambaForCausalLM","attention":null,"mlp":null})"}) {
    INFO(known);
    CHECK(json.out.find(known) != std::string::npos);
  }
}

TEST_CASE("no command meets an internal error in the sizes of any architecture's class") {
  std::string stream;
  for (const Architecture& known : architectures())
    stream += "{\"model_type\": \"" + std::string(known.model_type) + "\"}\n";
  for (const char* line : {"count - --tensors", "explain -", "check -", "memory - --max-model-len 16 --explain",
                           "flops - --seq 4 --explain"}) {
    std::vector<std::string> words = test::words_of(line);
    words.insert(words.end(), {"--jsonl", "--quiet"});
    const Ran ran = run(words, stream);
    std::istringstream objects(ran.out);
    for (const Architecture& known : architectures()) {
      std::string object;
      std::getline(objects, object);
      INFO(line << ", " << known.model_type << ": " << object.substr(0, 300));
      CHECK(!object.empty());
      CHECK(object.find(R"("rule":"internal")") == object.npos);
    }
  }
}

TEST_CASE("a batch comes in the order of its inputs, whatever the number of jobs") {
  const test::TemporaryFolder folder;
  std::vector<std::string> words{"--jsonl"};
  for (int n = 0; n < 500; ++n) {
    const std::string path = folder.path(std::to_string(n * 7919 % 500) + ".json");
    if (n % 10 != 3) folder.write(std::to_string(n * 7919 % 500) + ".json", config(n % 10 == 7 ? -n : 1000 + n));
    words.push_back(path);
  }
  std::optional<Ran> one;
  for (const char* jobs : {"1", "2", "5", "64"}) {
    std::vector<std::string> with_jobs = words;
    with_jobs.insert(with_jobs.end(), {"--jobs", jobs});
    const Ran ran = run(with_jobs);
    CHECK(ran.status == 3);
    CHECK(lines_in(ran.out) == 500);
    CHECK(lines_in(ran.err) == 100);
    if (!one) one = ran;
    CHECK(ran.out == one->out);
    CHECK(ran.err == one->err);
  }
  std::istringstream lines(one->out);
  for (std::size_t n = 1; n < words.size(); ++n) {
    std::string line;
    std::getline(lines, line);
    CHECK(line.find("\"source\":\"" + words[n] + "\"") != line.npos);
  }
}

namespace {

// A stream of the same config without end, in which somebody presses Ctrl-C, ends the process or closes the terminal.
class EndlessUntilInterrupt : public std::streambuf {
 public:
  explicit EndlessUntilInterrupt(int signal) : signal_(signal) {}

 protected:
  int_type underflow() override {
    if (++blocks_ == 3) std::raise(signal_);
    text_ = config(1000) + "\n";
    setg(text_.data(), text_.data(), text_.data() + text_.size());
    return traits_type::to_int_type(text_.front());
  }

 private:
  int signal_, blocks_ = 0;
  std::string text_;
};

}  // namespace

TEST_CASE("an interrupt ends a batch after what has been read, and leaves the old output as it is") {
  const test::TemporaryFolder folder;
  const std::string old = folder.write("old", "what was there");
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const bool to_file = signal != SIGINT;
    std::vector<const char*> args{"-", "--json", "--jobs", "1"};
    if (to_file) args.insert(args.end(), {"--output", old.c_str()});
    EndlessUntilInterrupt stream(signal);
    std::istream in(&stream);
    std::ostringstream out, err;
    CHECK(cli::run(args, in, out, err) == 128 + signal);
    CHECK(err.str().starts_with("lmsize: interrupted after "));
    CHECK(out.str().ends_with("\n]}\n") != to_file);
  }
  CHECK(cli::read_file(old) == "what was there");
}

TEST_CASE("a summary says how a batch went") {
  const Ran ran = run({"-", "--csv", "--summary"}, config(1000) + "\n{]\n{\"model_type\": \"gpt2\"}\n");
  CHECK(ran.err.find("lmsize: 3 inputs: 1 exact, 1 assumed, 1 failed; 0 with warnings; ") != ran.err.npos);
  CHECK(run({"gpt2"}).err.find("inputs:") == std::string::npos);
}

TEST_CASE("a long stream is counted line by line, in parallel") {
  std::string stream;
  for (int n = 0; n < 3000; ++n) stream += n == 1234 ? "{]\n" : config(1000 + n) + "\n";
  const Ran one = run({"-", "--jsonl", "--jobs", "1"}, stream), four = run({"-", "--jsonl", "--jobs", "4"}, stream);
  CHECK(lines_in(one.out) == 3000);
  CHECK(one.out == four.out);
  CHECK(one.err == four.err);
  CHECK(one.err.starts_with("-:1235:2: error: "));
  CHECK(one.status == 3);
}

TEST_CASE("the flag --get prints nothing where no model has the path, and holds lines where some have it") {
  const Ran none = run({"gpt2", "gpt2-xl", "--get", "mlp.experts.count"});
  CHECK(none.status == 2);
  CHECK(none.out.empty());
  const Ran some = run({"gpt2", "no-such-model", "mixtral-8x7b", "gpt2-xl", "--get", "mlp.experts.count"});
  CHECK(some.status == 3);
  CHECK(some.out == "\n\n8\n\n");
  CHECK(run({"no-such-model", "--get", "parameters.totl"}).out == "\n");
}

TEST_CASE("the flag --output holds what standard output would, and wrong usage leaves it alone") {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("out.json", "old");
  CHECK(run({"gpt2", "--json", "--output", path, "--kv-heads", "4"}).status == 2);
  CHECK(run({"gpt2", "--get", "no-such-key", "--output", path}).status == 2);
  CHECK(test::read_file(path) == "old");
  const Ran ran = run({"gpt2", "--json", "--output", path});
  CHECK(ran.status == 0);
  CHECK(ran.out.empty());
  CHECK(test::read_file(path) == run({"gpt2", "--json"}).out);
}

TEST_CASE("an output that cannot be written is told, a reader that has gone is not") {
  std::string stream;
  for (int n = 0; n < 1000; ++n) stream += config(1000 + n) + "\n";
  for (const char* jobs : {"1", "3"}) {
    const std::vector<std::string> words{"-", "--jsonl", "--jobs", jobs};
    const Ran full = run_into(Failing<Error>(5000, Error("output", "no space left")), words, stream);
    CHECK(full.status == 3);
    CHECK(full.err == "lmsize: error: no space left [output]\n");
    const Ran closed = run_into(Failing<cli::ClosedPipe>(5000, {}), words, stream);
    CHECK(closed.status == 0);
    CHECK(closed.err.empty());
  }
}

TEST_CASE("folders give their config.json, else params.json, else what looks like a config") {
  const test::TemporaryFolder folder;
  folder.write("one/config.json", config(10));
  folder.write("one/tokenizer.json", "{}");
  folder.write("params/params.json", R"({"dim": 64, "n_layers": 1, "n_heads": 4, "vocab_size": 100})");
  folder.write("many/b.json", config(20));
  folder.write("many/a.json", R"({"d": 64})");
  folder.write("many/tokenizer.json", R"({"version": "1.0"})");
  folder.write("many/broken.json", "{");
  folder.write("many/README.md", "");
  folder.write("many/.hidden.json", config(1));
  folder.write("empty/notes.txt", "");
  std::filesystem::create_directory_symlink("..", folder.path("many/ring"));
  const auto names = [](const Ran& ran) {
    std::vector<std::string> found;
    std::istringstream lines(ran.out);
    for (std::string line; std::getline(lines, line);) found.push_back(line);
    return found;
  };
  using Names = std::vector<std::string>;
  CHECK(names(run({folder.path("one"), "--get", "source"})) == Names{folder.path("one")});
  CHECK(names(run({folder.path("one"), "--get", "name"})) == Names{"one"});
  CHECK(names(run({folder.path("params/"), "--get", "name"})) == Names{"params"});
  const Ran many = run({folder.path("many"), "--get", "name"});
  CHECK(names(many) == Names{"a", "b"});
  CHECK(many.err == folder.path("many") + ": note: files that are no configs, skipped: 3 (" + folder.path("many") +
                        "/broken.json cannot be parsed)\n");
  CHECK(run({folder.path("many"), "--get", "name", "--quiet"}).err.empty());
  CHECK(run({folder.path("empty")}).status == 3);
  CHECK(run({folder.path("")}).status == 3);
  const Ran all = run({folder.path(""), "--recursive", "--get", "name"});
  CHECK(all.status == 0);
  CHECK(names(all) == Names{"a", "b", "one", "params"});
}

TEST_CASE("every form of an input gives the same count") {
  const test::TemporaryFolder folder;
  const std::string text = config(100), total = run({folder.write("a.json", text), "--get", "parameters.total"}).out;
  CHECK(lines_in(total) == 1);
  CHECK(run({"-", "--get", "parameters.total"}, text).out == total);
  CHECK(run({folder.write("a.jsonl", text + "\n" + text), "--get", "parameters.total"}).out == total + total);
  CHECK(run({folder.write("b/config.json", text), "--get", "parameters.total"}).out == total);
  CHECK(run({"--get", "parameters.total", "--", folder.write("-a.json", text)}).out == total);
}

TEST_CASE("colour is on where it is asked for") {
  CHECK(run({"gpt2"}).out.find('\x1b') == std::string::npos);
  CHECK(run({"gpt2", "--color", "always"}).out.find("\x1b[") != std::string::npos);
}

namespace {

// Lines that come slowly, one by one.
class SlowLines : public std::streambuf {
 public:
  explicit SlowLines(int lines) : left_(lines) {}

 private:
  int_type underflow() override {
    if (left_-- == 0) return traits_type::eof();
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    setg(line_.data(), line_.data(), line_.data() + line_.size());
    return traits_type::to_int_type(line_[0]);
  }

  std::string line_ = R"({"d": 8, "d_ff": 16})"
                      "\n";
  int left_;
};

// What a batch of four slow lines writes to a terminal that is its standard error; nothing where the system has no
// terminals to give (a container without /dev/pts).
std::optional<std::string> seen_on_terminal(const std::vector<const char*>& words) {
  const int master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
  if (master < 0) return std::nullopt;
  REQUIRE((grantpt(master) == 0 && unlockpt(master) == 0));
  const int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
  REQUIRE(slave >= 0);
  SlowLines lines(4);
  cli::FdSink sink(slave);
  std::istream in(&lines);
  std::ostringstream out;
  std::ostream err(&sink);
  CHECK(cli::run(words, in, out, err) == 0);
  err.flush();
  std::string seen;
  char part[256];
  for (ssize_t n = 0; (n = read(master, part, sizeof part)) > 0;) seen.append(part, static_cast<std::size_t>(n));
  close(slave);
  close(master);
  return seen;
}

}  // namespace

TEST_CASE("a long batch says on a terminal how far it is, and wipes that away") {
  const std::optional<std::string> seen = seen_on_terminal({"-", "--jsonl", "--quiet", "--jobs", "1"});
  if (!seen) {
    WARN("no terminal to be had: not tested");
    return;
  }
  CHECK(seen->find("\r3 inputs, ") == 0);
  CHECK(seen->find(" a second, 0 failed") != std::string::npos);
  CHECK(seen->ends_with("\r\x1b[K"));
}

TEST_CASE("a memory that the weights alone overflow is said at once") {
  const Ran ran =
      run({"fit", "--params", "7e9", "--like", "llama-3-8b", "--memory", "10GiB", "--max-model-len", "100"});
  CHECK(ran.status == 1);
  CHECK(ran.err == "lmsize: no shape meets all of this: the weights alone take more than --memory\n");
}

TEST_CASE("a file full of keys that nothing reads is told in part") {
  std::string json = R"({"model_type": "llama")";
  for (int i = 0; i < 100000; ++i) json += ", \"num_x" + std::to_string(i) + "\": 5";
  const Ran ran = run({"-", "--get", "status"}, json + "}");
  CHECK(ran.out == "assumed\n");
  CHECK(lines_in(ran.err) == 100);
}

TEST_CASE("the first line of --expect is a header only where its count is no number") {
  const test::TemporaryFolder folder;
  CHECK(run({"check", "gpt2", "--expect", folder.write("counts.csv", "model,count\ngpt2,124439808\n")}).status == 0);
  CHECK(run({"check", "gpt2", "--expect", folder.write("odd.csv", "gpt2,-1\n")}).status == 3);
  CHECK(run({"check", "gpt2", "--expect", folder.write("power.csv", "gpt2,1.24439808e8\n")}).status == 3);
}

TEST_CASE("a key that --set has put where nothing reads it, or beside another name of it, is told") {
  CHECK(run({"llama-3-8b", "--set", "foo=3", "--get", "parameters.total"})
            .err.find("--set foo: llama does not read it: nothing changes [unread-set-key]") != std::string::npos);
  const Ran both = run({"llama-3-8b", "--set", "num_layers=3", "--get", "status"});
  CHECK(both.out == "assumed\n");
  CHECK(both.err.find("num_hidden_layers is 32 and num_layers is 3") != std::string::npos);
  CHECK(run({"llama-3-8b", "--set", "torch_dtype=\"float16\"", "--get", "status"}).err.empty());
}
