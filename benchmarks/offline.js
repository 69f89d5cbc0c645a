// Answers what asv's pages ask for: a browser refuses them files beside a page that was opened from disk.
(function ($, files) {
    function named(url) {
        return decodeURIComponent(url.split("?")[0]);
    }
    function answering(content) {
        return {
            // Later, as from a server: until then the other scripts have said what they draw.
            send: function (headers, done) {
                setTimeout(function () { done(200, "success", content); }, 0);
            },
            abort: function () {}
        };
    }
    $.ajaxTransport("+json", function (options) {
        var name = named(options.url);
        // A copy each time: asv's pages change what they are given.
        return name in files ? answering({text: JSON.stringify(files[name])}) : undefined;
    });
    // By this file asv's pages find out whether a server still answers.
    $.ajaxTransport("+text", function (options) {
        return named(options.url) === "swallow.ico" ? answering({text: ""}) : undefined;
    });
})(jQuery, asvFiles);
